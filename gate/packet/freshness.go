package packet

import (
	"math/big"
	"time"

	"github.com/handoff-gate/handoff-gate/gate/internal/timestamp"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// checkFreshness is check 4.
func (c *Judged) checkFreshness() {
	span := func() report.Span { return c.doc.in(fAcceptance, fExpiresAt) }
	expires, ok := when(c.h.expiresAt)
	switch {
	case !ok:
		c.reject(freshness, badExpiresAt, span(), "%s is no timestamp such as 2026-10-05T00:00:00Z", show(c.h.expiresAt.Text))
	case !expires.After(c.o.Now):
		c.reject(freshness, handoffExpired, span(), "the packet expired at %s", timestamp.Format(expires))
	case c.policy.maxTTL != nil && longer(expires, c.o.Now, *c.policy.maxTTL):
		c.reject(freshness, ttlExceeded, span(), "the packet expires at %s, more than %v hours from now", timestamp.Format(expires), *c.policy.maxTTL)
	}
}

// longer tells whether more than so many hours lie between two times. They may be
// further apart than a Duration holds.
func longer(later, now time.Time, hours float64) bool {
	apart := new(big.Int).Mul(big.NewInt(later.Unix()-now.Unix()), big.NewInt(int64(time.Second)))
	apart.Add(apart, big.NewInt(int64(later.Nanosecond()-now.Nanosecond())))
	limit := new(big.Rat).SetFloat64(hours)
	limit.Mul(limit, new(big.Rat).SetInt64(int64(time.Hour)))
	return new(big.Rat).SetInt(apart).Cmp(limit) > 0
}
