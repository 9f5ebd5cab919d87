package githubapi

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/handoff-gate/handoff-gate/gate/payload"
)

// The limits of section 8 of github-action.md.
const (
	maxTries       = 5                // of one request
	firstWait      = time.Second      // doubled for each further try: 1, 2, 4, 8 s
	requestTimeout = 15 * time.Second // of one try, the body included
	lastTry        = 5 * time.Second  // of the one completion sent past the deadline
	maxBody        = 4 << 20          // bytes of an answer
	maxRedirects   = 5
)

// sending says how a request may be sent.
type sending uint8

const (
	replay sending = iota // as often as it takes: repeating it changes nothing
	once                  // not again once its answer was lost: the caller must look first
	final                 // one try, beyond the budget of time
)

type sendingKey struct{}

func sent(ctx context.Context, how sending) context.Context {
	return context.WithValue(ctx, sendingKey{}, how)
}

// Attempt is one request as it went over the wire, for the debug log. It holds
// no header but those about limits, no query and no body.
type Attempt struct {
	Method, Path                        string
	Status                              int // 0 when there was no answer
	Elapsed                             time.Duration
	Limit, Remaining, Reset, RetryAfter string // rate-limit headers, as the server sent them
	Err                                 string // why there was no answer, cleaned
}

// String is the line for the debug log.
func (a Attempt) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: ", a.Method, brief(a.Path))
	if a.Status != 0 {
		fmt.Fprintf(&b, "%d", a.Status)
	} else {
		b.WriteString("no answer (" + brief(a.Err) + ")")
	}
	fmt.Fprintf(&b, " in %d ms", a.Elapsed.Milliseconds())
	for _, h := range []struct{ name, value string }{
		{"limit", a.Limit}, {"remaining", a.Remaining}, {"reset", a.Reset}, {"retry-after", a.RetryAfter},
	} {
		if h.value != "" {
			b.WriteString(", " + h.name + " " + payload.Cut(h.value, 40))
		}
	}
	return b.String()
}

// transport stands under go-github and does what that lacks: headers on every
// request, retries, one budget of time over all calls, bounded answers and
// redirects that keep method, body and host. go-github v66 has no retries,
// reports a 429 as a plain error, and after a rate limit refuses further calls
// without sending them; so it is never shown a rate limit.
type transport struct {
	base                    http.RoundTripper
	origin                  *url.URL
	header                  http.Header
	clock                   Clock
	jitter                  func() float64
	debug                   func(Attempt)
	mask                    *Masker
	budget, spent           time.Duration
	requestTimeout, lastTry time.Duration
}

// defaultTransport is net/http's own with its proxies (HTTPS_PROXY, HTTP_PROXY,
// NO_PROXY) and timeouts, and with bounded headers.
func defaultTransport() http.RoundTripper {
	t := &http.Transport{ForceAttemptHTTP2: true}
	if d, ok := http.DefaultTransport.(*http.Transport); ok {
		t = d.Clone()
	}
	t.Proxy = http.ProxyFromEnvironment
	t.MaxResponseHeaderBytes = 1 << 20
	return t
}

// RoundTrip sends a request until it has an answer worth passing on. For what
// another try would not change, that is the answer; else it is a *CallError.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		body, err = io.ReadAll(req.Body)
		_ = req.Body.Close()
		if err != nil {
			return nil, err
		}
		// Findings quote the repository, and a repository may hold the token.
		body = t.mask.Bytes(body)
	}
	how, _ := req.Context().Value(sendingKey{}).(sending)
	var last *CallError
	for try := 1; ; try++ {
		limit := t.requestTimeout
		if how == final {
			limit = t.lastTry
		} else {
			left := t.left(req.Context())
			if left <= 0 {
				return nil, t.tooLate(req, last)
			}
			limit = min(limit, left)
		}
		resp, failure := t.try(req, body, limit)
		if failure == nil {
			return resp, nil
		}
		failure.Tries = try
		last = failure
		if req.Context().Err() != nil {
			failure.Cause = Cancelled
			return nil, failure
		}
		switch {
		case failure.Cause != Limited && failure.Cause != ServerError && failure.Cause != Network,
			isCertificate(failure.err), how == final, try == maxTries, how == once && failure.Lost:
			return nil, failure
		}
		wait := t.backoff(try)
		// What the server asks for counts if it is longer and still before the
		// deadline. If it is not, the usual wait applies: many limits are lifted
		// before the time announced, and the tries are few.
		if asked := t.asked(resp); asked > wait && asked < t.left(req.Context()) {
			wait = asked
		}
		if err := t.sleep(req.Context(), wait); err != nil {
			if errors.Is(err, errTooLate) {
				return nil, t.tooLate(req, last)
			}
			failure.Cause, failure.err = Cancelled, err
			return nil, failure
		}
	}
}

var errTooLate = errors.New("api-timeout is used up")

// left is the time that calls and waits may still take: what the budget leaves, and
// what the caller's own deadline does.
func (t *transport) left(ctx context.Context) time.Duration {
	left := t.budget - t.spent
	if at, ok := ctx.Deadline(); ok {
		left = min(left, time.Until(at))
	}
	return left
}

// sleep waits within the budget; it does not begin a wait that would outlast it.
func (t *transport) sleep(ctx context.Context, d time.Duration) error {
	if d >= t.left(ctx) {
		return errTooLate
	}
	start := t.clock.Now()
	err := t.clock.Sleep(ctx, d)
	t.spent += t.clock.Now().Sub(start)
	return err
}

// backoff is the wait after the given try: 1, 2, 4, 8 s and up to a quarter more.
func (t *transport) backoff(try int) time.Duration {
	d := firstWait << (try - 1)
	jitter := t.jitter
	if jitter == nil {
		jitter = rand.Float64
	}
	return d + time.Duration(float64(d)/4*jitter())
}

// tooLate is the failure of a request for which no time is left; it keeps what
// was last heard.
func (t *transport) tooLate(req *http.Request, last *CallError) *CallError {
	out := &CallError{Method: req.Method, Path: req.URL.Path, Cause: Deadline, err: errTooLate}
	if last != nil {
		out.Status, out.Message, out.Tries, out.Lost = last.Status, last.Message, last.Tries, last.Lost
	}
	return out
}

// try sends the request once, following redirects on the same host. A failure
// may come with the answer, whose headers say how long to wait.
func (t *transport) try(req *http.Request, body []byte, limit time.Duration) (*http.Response, *CallError) {
	ctx, cancel := context.WithTimeout(req.Context(), limit)
	defer cancel()
	fail := func(cause Cause, err error, format string, args ...any) *CallError {
		return &CallError{
			Method: req.Method, Path: req.URL.Path, Cause: cause, err: err,
			Message: cleanText(t.mask, fmt.Sprintf(format, args...)),
		}
	}
	target := req.URL
	for range maxRedirects {
		if !t.sameOrigin(target) {
			return nil, fail(Redirected, nil, "the answer points to another host (%s), which is not followed", target.Host)
		}
		resp, data, err := t.send(ctx, req, target, body)
		if err != nil {
			msg := err.Error()
			if ctx.Err() != nil && req.Context().Err() == nil {
				msg = fmt.Sprintf("nothing within %s", limit)
			}
			f := fail(Network, err, "%s", msg)
			f.Lost = true
			return nil, f
		}
		if next, ok := redirect(resp, target); ok {
			if next == nil {
				return nil, fail(Redirected, nil, "%d without a usable Location", resp.StatusCode)
			}
			target = next
			continue
		}
		if len(data) > maxBody {
			f := fail(Unreadable, nil, "an answer of more than %d bytes", maxBody)
			f.Status, f.Lost = resp.StatusCode, resp.StatusCode < 300
			return nil, f
		}
		cause, again := retried(resp.StatusCode, resp.Header, data)
		if again {
			f := fail(cause, nil, "%s", messageOf(resp.StatusCode, data))
			f.Status, f.Lost = resp.StatusCode, cause == ServerError
			return resp, f
		}
		if req.Method == http.MethodGet && silent(resp.StatusCode, data) {
			f := fail(Unreadable, nil, "an answer that is not the JSON expected")
			f.Status = resp.StatusCode
			return nil, f
		}
		// go-github remembers the reset of a used-up limit and then refuses calls
		// on its own. The waiting is done here.
		resp.Header.Del("X-RateLimit-Reset")
		resp.Body = io.NopCloser(bytes.NewReader(data))
		return resp, nil
	}
	return nil, fail(Redirected, nil, "more than %d redirects", maxRedirects)
}

// send makes one exchange and reads the whole answer, at most one byte more
// than the limit, so that its time is part of the try.
func (t *transport) send(ctx context.Context, req *http.Request, target *url.URL, body []byte) (*http.Response, []byte, error) {
	r := req.Clone(ctx)
	r.URL, r.Host = target, ""
	for name, values := range t.header {
		r.Header[name] = values
	}
	r.Body, r.GetBody, r.ContentLength = nil, nil, 0
	if body != nil {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	start := t.clock.Now()
	resp, err := t.base.RoundTrip(r)
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
		_ = resp.Body.Close()
	}
	elapsed := t.clock.Now().Sub(start)
	t.spent += elapsed
	if t.debug != nil {
		a := Attempt{Method: req.Method, Path: target.Path, Elapsed: elapsed}
		if err != nil {
			a.Err = cleanText(t.mask, err.Error())
		} else {
			h := func(name string) string { return t.mask.String(resp.Header.Get(name)) }
			a.Status = resp.StatusCode
			a.Limit, a.Remaining = h("X-RateLimit-Limit"), h("X-RateLimit-Remaining")
			a.Reset, a.RetryAfter = h("X-RateLimit-Reset"), h("Retry-After")
		}
		t.debug(a)
	}
	if err != nil {
		return nil, nil, err
	}
	return resp, data, nil
}

func (t *transport) sameOrigin(u *url.URL) bool {
	return u.Scheme == t.origin.Scheme && strings.EqualFold(u.Host, t.origin.Host) && u.User == nil
}

// redirect tells whether an answer sends elsewhere, and where; nil when it does
// not say where. GitHub asks that the same request be repeated there, whichever
// of the statuses it is.
func redirect(resp *http.Response, from *url.URL) (*url.URL, bool) {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, false
	}
	loc := resp.Header.Get("Location")
	if loc == "" {
		return nil, true
	}
	u, err := from.Parse(loc)
	if err != nil {
		return nil, true
	}
	return u, true
}

// retried tells whether an answer is worth another try.
func retried(status int, h http.Header, body []byte) (Cause, bool) {
	switch status {
	case http.StatusTooManyRequests:
		return Limited, true
	case http.StatusForbidden:
		// The headers of a secondary limit may be missing.
		limited := h.Get("Retry-After") != "" || h.Get("X-RateLimit-Remaining") == "0" ||
			strings.Contains(strings.ToLower(messageOf(status, body)), "secondary rate limit")
		return Limited, limited
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return ServerError, true
	}
	return 0, false
}

// silent tells whether a success says nothing of what was asked. go-github takes
// an empty body or null for an empty list, and a list without a claim or a tag is
// a statement about them.
func silent(status int, body []byte) bool {
	if status < 200 || status > 299 {
		return false
	}
	text := bytes.TrimSpace(body)
	return status != http.StatusOK || len(text) == 0 || bytes.Equal(text, []byte("null"))
}

// messageOf is the member message of an answer, or the status in words: what a
// proxy sends instead is an HTML page that helps no reader.
func messageOf(status int, body []byte) string {
	var doc struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &doc) == nil && doc.Message != "" {
		return doc.Message
	}
	return http.StatusText(status)
}

// asked is how long the server wants to be left alone; 0 when it does not say.
func (t *transport) asked(resp *http.Response) time.Duration {
	if resp == nil {
		return 0
	}
	now := t.clock.Now()
	if v := strings.TrimSpace(resp.Header.Get("Retry-After")); v != "" {
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			return seconds(n)
		}
		if at, err := http.ParseTime(v); err == nil {
			return max(0, at.Sub(now))
		}
	}
	// Every answer carries the reset of the primary limit. It matters only
	// where that limit is what was hit.
	if s := resp.StatusCode; s != http.StatusTooManyRequests && s != http.StatusForbidden {
		return 0
	}
	if r := resp.Header.Get("X-RateLimit-Remaining"); r != "" && r != "0" {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(resp.Header.Get("X-RateLimit-Reset")), 10, 64)
	if err != nil || n <= 0 {
		return 0
	}
	return seconds(n - now.Unix())
}

// seconds is n seconds, never negative and never over what a Duration holds.
func seconds(n int64) time.Duration {
	n = max(0, min(n, math.MaxInt64/int64(time.Second)))
	return time.Duration(n) * time.Second
}

// isCertificate tells whether the server's certificate was refused: the next
// try would meet the same one.
func isCertificate(err error) bool {
	var bad *tls.CertificateVerificationError
	return errors.As(err, &bad)
}
