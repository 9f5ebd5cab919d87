package packet

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func holder(t testing.TB, name, kid string) *PrivateKey {
	t.Helper()
	seed := sha256.Sum256([]byte("packet test " + name))
	k, err := ReadPrivateKey([]byte(fmt.Sprintf(`{"agent": %q, "kid": %q, "alg": "Ed25519", "private_key": %q}`, name, kid, Encode(seed[:]))))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func draft(t testing.TB, data []byte) *Draft {
	t.Helper()
	d, err := Open(data)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func written(t testing.TB, d *Draft) []byte {
	t.Helper()
	out, err := d.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The whole way: pin, approve, sign; and what comes out is accepted.
func TestWritersMakeWhatTheChecksAccept(t *testing.T) {
	w := newWorld(t).push()
	w.unsigned = true
	w.set("inputs.artifact_refs.0.sha256", gone{}, "acceptance.evidence.0.sha256", nil, "authority.approvals", gone{})

	d := draft(t, w.packet())
	if err := d.Pin(false, w.look(d.Pins(false))); err != nil {
		t.Fatal(err)
	}
	d = draft(t, written(t, d))
	shown, err := d.Approve(holder(t, "rita", "r-1"), Approval{Action: "push_branch", ExpiresAt: later})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`approver: "rita"`, `action:   "push_branch"`, `tool:     "git_push"`, `params:   {"branch":"feature/x","remote":"origin"}`, `from:     "alice"`,
		`to:       "bob"`, `key:      "pack:m1:rev-7"`, `budget:   {"minutes":30,"tokens":50000,"usd":2}`, `expires:  2026-10-06T00:00:00Z`,
	}
	if strings.Join(shown, "\n") != strings.Join(want, "\n") {
		t.Errorf("the approver is shown\n%s", strings.Join(shown, "\n"))
	}
	d = draft(t, written(t, d))
	if problems := d.Problems(); len(problems) > 0 {
		t.Errorf("problems %q", problems)
	}
	if err := d.Sign(holder(t, "alice", "a-1")); err != nil {
		t.Fatal(err)
	}
	out := written(t, d)
	w.expectOf(out, "")
	w.o.Strict = true
	w.expectOf(out, "")

	// A second approval goes beside the first, and the signature is dropped.
	d = draft(t, out)
	if _, err := d.Approve(holder(t, "mallory", "m-1"), Approval{Action: "git_push", NoParams: true}); err != nil {
		t.Fatal(err)
	}
	doc := Read("p.json", written(t, d))
	if approvals := member(member(doc.handoff, fAuthority), fApprovals); len(approvals.Items) != 2 || text(approvals.Items[1], fAction) != "git_push" || member(approvals.Items[1], fParams) != nil {
		t.Errorf("approvals %+v", approvals)
	}
	if doc.root.Get(fSignature) != nil {
		t.Error("the signature is still there")
	}
}

// Members keep their order and numbers their spelling.
func TestWritersKeepWhatStands(t *testing.T) {
	const packet = `{"z":1.50,"handoff":{"to":"b","from":"alice","n":[1e3,-0,123456789012345678901234567890],"\u0061":"\u00e9\/"},"signature":{"old":1},"y":[]}`
	d := draft(t, []byte(packet))
	if err := d.Sign(holder(t, "alice", "a-1")); err != nil {
		t.Fatal(err)
	}
	out := string(written(t, d))
	if !strings.HasPrefix(out, `{
  "z": 1.50,
  "handoff": {
    "to": "b",
    "from": "alice",
    "n": [
      1e3,
      -0,
      123456789012345678901234567890
    ],
    "\u0061": "\u00e9\/"
  },
  "signature": {
    "signer": "alice",
    "kid": "a-1",
    "alg": "Ed25519",
    "sig": "`) || !strings.HasSuffix(out, "\"\n  },\n  \"y\": []\n}\n") {
		t.Errorf("got\n%s", out)
	}
	// Writing once more changes nothing: a signature is always the same.
	d = draft(t, []byte(out))
	if err := d.Sign(holder(t, "alice", "a-1")); err != nil {
		t.Fatal(err)
	}
	if again := string(written(t, d)); again != out {
		t.Errorf("the second time\n%s", again)
	}
}

func TestDrop(t *testing.T) {
	for src, want := range map[string]string{
		`{"handoff":{},"signature":{}}`:          `{"handoff":{}}`,
		`{"signature":{},"handoff":{}}`:          `{"handoff":{}}`,
		`{"a":1, "signature": 1 , "handoff":{}}`: `{"a":1,"handoff":{}}`,
		`{"handoff":{}}`:                         `{"handoff":{}}`,
	} {
		d := draft(t, []byte(src))
		d.drop(d.doc.root, fSignature)
		var out any
		if err := json.Unmarshal(written(t, d), &out); err != nil {
			t.Fatal(err)
		}
		if got, _ := json.Marshal(out); string(got) != want {
			t.Errorf("%s gives %s", src, got)
		}
	}
}

func TestSignRefuses(t *testing.T) {
	for _, from := range []string{`"bob"`, `["alice"]`, `null`, `"Alice"`} {
		d := draft(t, []byte(`{"handoff":{"from":`+from+`}}`))
		if err := d.Sign(holder(t, "alice", "a-1")); err == nil {
			t.Errorf("alice signs a packet from %s", from)
		}
	}
	for src, code := range map[string]string{
		`{"handoff":{"from":"a","from":"b"}}`: "duplicate_field:from",
		`{"handoff":{"n":NaN}}`:               "malformed:non_finite_number",
		`{"handoff":{"n":"\ud800"}}`:          "malformed:lone_surrogate",
		"\ufeff{}":                            "packet_unreadable",
		`{}`:                                  "missing_handoff",
	} {
		if _, err := Open([]byte(src)); err == nil || !strings.HasPrefix(err.Error(), code+": ") {
			t.Errorf("%s: %v", src, err)
		}
	}
}

// Signing says what check 1 would say without a registry.
func TestProblems(t *testing.T) {
	d := draft(t, []byte(`{"handoff":{"from":"alice","to":"bob","note":1}}`))
	problems := strings.Join(d.Problems(), "\n")
	for _, part := range []string{"missing_field:id: ", "missing_field:on_failure: ", "note"} {
		if !strings.Contains(problems, part) {
			t.Errorf("problems lack %q:\n%s", part, problems)
		}
	}
}

func TestApproveRefuses(t *testing.T) {
	action := func(more string) string { return `{"name":"n","tool":"t"` + more + `}` }
	packet := func(actions string) string {
		return `{"handoff":{"from":"a","to":"b","idempotency_key":"k","planned_actions":[` + actions + `]}}`
	}
	rita := holder(t, "rita", "r-1")
	for _, tt := range []struct {
		src  string
		a    Approval
		want string // part of the error; "" is none
	}{
		{packet(action("")), Approval{Action: "n"}, ""},
		{packet(action("")), Approval{Action: "t"}, `no planned action has the name "t"`},
		{packet(action("")), Approval{Action: "t", NoParams: true}, ""},
		{packet(action("")), Approval{Action: "x", NoParams: true}, "name or tool"},
		{packet(""), Approval{Action: "n"}, "no planned action"},
		{packet(action(`,"params":{"a":1}`) + "," + action(`,"params":{"a":1.0}`)), Approval{Action: "n"}, ""},
		{packet(action(`,"params":{"a":1}`) + "," + action(`,"params":{"a":2}`)), Approval{Action: "n"}, "different params"},
		{packet(action(`,"params":{"a":1}`) + "," + action("")), Approval{Action: "n"}, "different params"},
		{packet(action(`,"params":{"a":1}`) + "," + action("")), Approval{Action: "n", NoParams: true}, ""},
		{`{"handoff":{"from":"a","to":"b","planned_actions":[` + action("") + `]}}`, Approval{Action: "n"}, "no idempotency_key"},
		{`{"handoff":{"from":"a","to":"b","idempotency_key":"k","authority":1,"planned_actions":[` + action("") + `]}}`, Approval{Action: "n"}, "malformed:authority"},
		{`{"handoff":{"from":"a","to":"b","idempotency_key":"k","authority":{"approvals":{}},"planned_actions":[` + action("") + `]}}`, Approval{Action: "n"}, "malformed:authority.approvals"},
		{`{"handoff":{"from":"a","to":"b","idempotency_key":"k","authority":{"approvals":null},"planned_actions":[` + action("") + `]}}`, Approval{Action: "n"}, ""},
	} {
		_, err := draft(t, []byte(tt.src)).Approve(rita, tt.a)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s, %+v: %v, want %q", tt.src, tt.a, err, tt.want)
		}
	}
}

func TestPin(t *testing.T) {
	w := newWorld(t)
	signed := w.packet()

	// Nothing to pin: the packet stays as it is, with its signature.
	d := draft(t, signed)
	if n := d.Pins(false); len(n) != 0 {
		t.Errorf("needs %v", n)
	}
	if err := d.Pin(false, nil); err != nil || Read("p", written(t, d)).root.Get(fSignature) == nil {
		t.Error("the signature is gone", err)
	}
	// Fresh digests that are the old ones, in whatever case: the same.
	upper := strings.Replace(string(signed), sum(brief), strings.ToUpper(sum(brief)), 1)
	d = draft(t, []byte(upper))
	if err := d.Pin(true, w.look(d.Pins(true))); err != nil || Read("p", written(t, d)).root.Get(fSignature) == nil {
		t.Error("the signature is gone", err)
	}
	// A file that changed.
	w.files["context/brief.md"] = "another"
	d = draft(t, signed)
	if err := d.Pin(true, w.look(d.Pins(true))); err != nil {
		t.Fatal(err)
	}
	doc := Read("p", written(t, d))
	if doc.root.Get(fSignature) != nil || text(member(member(doc.handoff, fInputs), fArtifactRefs).Items[0], fSHA256) != sum("another") {
		t.Error("not pinned anew, or still signed")
	}
	// What cannot be pinned.
	for p, want := range map[string]string{"none": "no regular file", "../x": "leads out", "link": "leads out"} {
		w := newWorld(t).set("inputs.artifact_refs", list{object{"path": p}})
		w.files["link"] = "->outside"
		d := draft(t, w.packet())
		if err := d.Pin(false, w.look(d.Pins(false))); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "inputs.artifact_refs[0]") {
			t.Errorf("%s: %v", p, err)
		}
	}
	// What has not the form of a reference is left to the check.
	d = draft(t, []byte(`{"handoff":{"inputs":{"artifact_refs":[1,{"path":2},{}]},"acceptance":{"evidence":[{"kind":"x"},{"ref":"#a"},[]]}}}`))
	if n := d.Pins(true); len(n) != 0 {
		t.Errorf("needs %v", n)
	}
}

func TestPrivateKey(t *testing.T) {
	k, err := NewPrivateKey("älice \"x\"", "k-1", strings.NewReader(strings.Repeat("\x01", 32)))
	if err != nil {
		t.Fatal(err)
	}
	file := k.File()
	data := append([]byte(nil), file...)
	again, err := ReadPrivateKey(data)
	if err != nil {
		t.Fatal(err)
	}
	if again.Agent != k.Agent || again.Kid != k.Kid || !again.HasKid || !again.key.Equal(k.key) {
		t.Errorf("%s reads as %+v", file, again)
	}
	if strings.Trim(string(data), "\x00") != "" {
		t.Error("the content of the key file is still there")
	}
	key := again.key
	if again.Forget(); strings.Trim(string(key), "\x00") != "" {
		t.Error("the key is still there")
	}
	if _, err := NewPrivateKey("a", "b", strings.NewReader("short")); err == nil {
		t.Error("a key of too little randomness")
	}

	seed := Encode(make([]byte, ed25519.SeedSize))
	for src, want := range map[string]error{
		`{"agent":"a","private_key":"` + seed + `"}`:                                       nil,
		`{"agent":"a","kid":null,"alg":null,"private_key":"` + seed + `","x":{"agent":1}}`: nil,
		`{"agent":"a","private_key":"` + seed + `"`:                                        errKeyJSON,
		`{"agent":"a","agent":"b","private_key":"` + seed + `"}`:                           errKeyJSON,
		"\ufeff{}":        errKeyJSON,
		"":                errKeyJSON,
		`[{"agent":"a"}]`: errKeyObject,
		`"` + seed + `"`:  errKeyObject,
		`{"agent":"a","encrypted":{"kdf":"scrypt"}}`:               errKeyEncrypted,
		`{"encrypted":null}`:                                       errKeyEncrypted,
		`{"private_key":"` + seed + `"}`:                           errKeyAgent,
		`{"agent":"","private_key":"` + seed + `"}`:                errKeyAgent,
		`{"agent":["a"],"private_key":"` + seed + `"}`:             errKeyAgent,
		`{"agent":"a","kid":1,"private_key":"` + seed + `"}`:       errKeyKid,
		`{"agent":"a","alg":"ES256","private_key":"` + seed + `"}`: errKeyAlg,
		`{"agent":"a"}`:                                                           errKeyPrivate,
		`{"agent":"a","private_key":null}`:                                        errKeyPrivate,
		`{"agent":"a","private_key":"` + seed + `="}`:                             errKeyPrivate,
		`{"agent":"a","private_key":"` + seed[:42] + `B"}`:                        errKeyPrivate,
		`{"agent":"a","private_key":"` + seed[:40] + `"}`:                         errKeyPrivate,
		`{"agent":"a","private_key":"\u0041` + seed[1:] + `"}`:                    errKeyPrivate,
		`{"agent":"a","private_key":"` + Encode(make([]byte, 64)) + `"}`:          errKeyPrivate,
		`{"agent":"a","private_key":"` + seed[:20] + `\n` + seed[20:] + `"}`:      errKeyPrivate,
		strings.Repeat(" ", 1<<20) + `{"agent":"a","private_key":"` + seed + `"}`: errKeyJSON,
	} {
		_, err := ReadPrivateKey([]byte(src))
		if err != want { //nolint:errorlint // exactly that one, with nothing of the file.
			t.Errorf("%.80s: %v, want %v", src, err, want)
		}
	}
}

func TestIsAgent(t *testing.T) {
	for id, want := range map[string]bool{"alice": true, "": false, " a": false, "a\n": false, strings.Repeat("x", 256): true, strings.Repeat("x", 257): false} {
		if IsAgent(id) != want {
			t.Errorf("%q: %v", id, !want)
		}
	}
}
