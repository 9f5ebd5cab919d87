package report

// Packet is what was decided about a signed packet (packets.md 8). Its reasons
// are the authority on their order; the findings of the project hold the same.
type Packet struct {
	Decision        string         `json:"decision"` // ACCEPT, REJECT, COMPLETED or RELEASED
	State           string         `json:"state"`    // of the first reason; "" unless rejected
	Reasons         []PacketReason `json:"reasons"`
	HandoffID       string         `json:"handoff_id"`
	TraceID         string         `json:"trace_id"`
	IdempotencyKey  string         `json:"idempotency_key"`
	From            string         `json:"from"`
	To              string         `json:"to"`
	SHA256          string         `json:"packet_sha256"` // of the canonical handoff, hex; "" where there is none
	Signature       string         `json:"signature"`     // verified, absent or failed
	DefaultsApplied []string       `json:"defaults_applied"`
	Ledger          string         `json:"ledger"` // none, dry-run or recorded
	Claim           *PacketClaim   `json:"claim"`  // nil unless one is recorded
	Already         bool           `json:"-"`      // it was completed before; for people
}

// PacketReason is one reason against a packet.
type PacketReason struct {
	Code    string `json:"code"` // with its detail: "missing_field:purpose"
	State   string `json:"state"`
	Layer   string `json:"layer"`
	Rule    string `json:"rule"`
	Message string `json:"message"` // begins with the code and ": "
}

// PacketClaim is a claim that stands in the ledger.
type PacketClaim struct {
	Epoch int64 `json:"epoch"`
}

// rewrite is Report.Rewrite for the texts of the packet.
func (p *Packet) rewrite(f func(string) string) {
	for i := range p.Reasons {
		r := &p.Reasons[i]
		r.Code, r.Message = f(r.Code), f(r.Message)
	}
	for i := range p.DefaultsApplied {
		p.DefaultsApplied[i] = f(p.DefaultsApplied[i])
	}
	for _, text := range []*string{&p.HandoffID, &p.TraceID, &p.IdempotencyKey, &p.From, &p.To} {
		*text = f(*text)
	}
}
