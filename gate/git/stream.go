package git

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/handoff-gate/handoff-gate/gate/proc"
)

// streamBuffer is how much of a command's output is parsed at a time.
const streamBuffer = 128 << 10

// stream runs one git command and parses what it prints while it prints it.
// parse takes the whole records at the beginning of a piece and gives the rest
// back, which then begins the next piece; a rest at the end of the output is an
// error. What parse keeps of a piece keeps that piece in memory.
func (r *Repo) stream(ctx context.Context, m mode, parse func(piece string) (rest string, err error), args ...string) error {
	return stream(ctx, r.command(m, args...), parse)
}

func stream(ctx context.Context, c proc.Command, parse func(piece string) (rest string, err error)) error {
	name := c.Argv[1]
	child, err := proc.Start(ctx, c)
	if err != nil {
		return failure(ctx, name, err)
	}
	giveUp := func(err error) error {
		child.Kill()
		_ = child.Wait() // it was killed
		return errors.Join(err, ctx.Err())
	}
	buf := make([]byte, streamBuffer)
	for have, total := 0, 0; ; {
		n, err := child.Stdout.Read(buf[have:])
		have, total = have+n, total+n
		switch {
		case err != nil && err != io.EOF:
			return giveUp(fmt.Errorf("git %s: %w", name, err))
		case total > maxOutput:
			return giveUp(fmt.Errorf("git %s: %w of %d bytes", name, proc.ErrTooMuchOutput, maxOutput))
		case err == io.EOF:
			// What a command that failed has printed is no answer.
			if err := child.Wait(); err != nil {
				return failure(ctx, name, err)
			}
		case have < len(buf):
			continue
		}
		rest, parseErr := parse(string(buf[:have]))
		if err == io.EOF {
			if parseErr == nil && rest != "" {
				parseErr = fmt.Errorf("git %s ended within a record", name)
			}
			return parseErr
		}
		if parseErr != nil {
			return giveUp(parseErr)
		}
		if len(rest) == len(buf) { // one record is longer than the buffer
			buf = append(buf, make([]byte, len(buf))...)
			continue
		}
		have = copy(buf, rest)
	}
}
