package packet

import (
	"crypto/ed25519"
	"crypto/sha256"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/bench"
	"github.com/handoff-gate/handoff-gate/gate/packet/strict"
)

// packetBound is what checking a packet may cost of what it cannot do without.
const packetBound = 1.5

// measured is a packet with an approval, an artifact and a quotation, its registry,
// and the least that any program must do to check it: two signatures, and the
// SHA-256 of the handoff and of the files.
func measured(b *testing.B) (w *world, data []byte, registry *Registry, floor func()) {
	b.Helper()
	w = newWorld(b)
	source := strings.Repeat("A line of the rules that nobody quotes here.\n", 400) + theRules
	w.files = map[string]string{"context/brief.md": strings.Repeat(brief, 300), "rules/M-1.md": source}
	w.set("inputs.artifact_refs.0.sha256", sum(w.files["context/brief.md"]),
		"acceptance.evidence.0.sha256", sum(source), "acceptance.evidence.0.quote", "A verdict needs two readers.")
	w.push(w.approval())
	data = w.packet()
	w.expectOf(data, "")
	registry = ReadRegistry("registry.json", encode(b, w.registry))

	doc, err := strict.Parse(strict.Packet, data)
	if err != nil {
		b.Fatal(err)
	}
	h := doc.Root.Get(fHandoff)
	approval := h.Get(fAuthority).Get(fApprovals).Items[0]
	canonical := strict.Canonical(h)
	messages := [][]byte{append([]byte(packetDomain), canonical...), approvalMessage(h, approval)}
	keys := []ed25519.PublicKey{keyOf("alice").Public().(ed25519.PublicKey), keyOf("rita").Public().(ed25519.PublicKey)}
	var signatures [][]byte
	for _, text := range []string{text(doc.Root.Get(fSignature), fSig), text(approval, fSig)} {
		raw, ok := decode(text, ed25519.SignatureSize)
		if !ok {
			b.Fatal("no signature")
		}
		signatures = append(signatures, raw)
	}
	return w, data, registry, func() {
		for i := range messages {
			if !ed25519.Verify(keys[i], messages[i], signatures[i]) {
				b.Fatal("a signature does not verify")
			}
		}
		sha256.Sum256(canonical)
		for _, text := range w.files {
			s := sha256.New()
			_, _ = io.WriteString(s, text)
			s.Sum(nil)
		}
	}
}

// many is how often each is done in one measurement: one packet takes less than a
// clock tells well.
const many = 200

// BenchmarkPacket compares all checks of a packet, from its bytes to its entry in a
// report, with the signatures and digests that it has.
func BenchmarkPacket(b *testing.B) {
	w, data, registry, floor := measured(b)
	bench.Ratio(b, packetBound, func() {
		for range many {
			floor()
		}
	}, func() {
		for range many {
			w.checkOnce(data, registry)
		}
	})
}

func (w *world) checkOnce(data []byte, registry *Registry) {
	c := Check(Read("p.json", data), registry, w.o)
	c.Files(w.look(c.Needs()))
	if p := c.Project(); p.Packet.Decision != Accept {
		w.t.Fatal(p.Packet.Reasons)
	}
}

// BenchmarkPackets checks 10,000 packets on all processors. The floor is their
// signatures and digests on all processors as well, which wait for nothing: what a
// second processor is worth differs from machine to machine, and the checks have to
// gain as much by it as plain computing does.
func BenchmarkPackets(b *testing.B) {
	const packets = 10_000
	w, data, registry, floor := measured(b)
	spread := func(f func()) {
		var group sync.WaitGroup
		workers := runtime.GOMAXPROCS(0)
		for range workers {
			group.Go(func() {
				for range packets / workers {
					f()
				}
			})
		}
		group.Wait()
	}
	bench.Ratio(b, packetBound, func() { spread(floor) }, func() { spread(func() { w.checkOnce(data, registry) }) })
}

// BenchmarkPacketAlone is for finding where the time and the memory go.
func BenchmarkPacketAlone(b *testing.B) {
	w, data, registry, _ := measured(b)
	b.ReportAllocs()
	for b.Loop() {
		w.checkOnce(data, registry)
	}
}
