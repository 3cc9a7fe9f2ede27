package editing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"

	"github.com/gin-gonic/gin"

	"catalogue/internal/idempotency"
)

// once answers a POST. Under a key that was used before it answers as it did then. do gets nil for a request without a
// key; it reports whether it has finished the claim, which is released otherwise, also where do panics. path is part of
// what a key is scoped to.
func (s Services) once(
	c *gin.Context, in incoming, path string,
	do func(ctx context.Context, claim *idempotency.Claim) (out answer, finished bool, err error),
) error {
	ctx := c.Request.Context()
	if in.key == "" {
		out, _, err := do(ctx, nil)
		if err != nil {
			return err
		}
		return respond(c, out)
	}
	claim, kept, err := s.Keys.Claim(ctx, idempotency.Request{
		Caller: in.user, Route: c.Request.Method + " " + path, Key: in.key, Digest: digest(in.body.Canonical()),
	})
	if err != nil {
		return err
	}
	if kept != nil {
		c.Header(replayedHeader, "true")
		return respond(c, *kept)
	}
	finished := false
	defer func() {
		if !finished {
			s.release(ctx, claim)
		}
	}()
	out, finished, err := do(ctx, claim)
	if err != nil {
		return err
	}
	return respond(c, out)
}

// release frees a key. One that stays is free again after its lease.
func (s Services) release(ctx context.Context, claim *idempotency.Claim) {
	if err := claim.Release(ctx); err != nil {
		s.Log.WarnContext(ctx, "an idempotency key stays until its lease ends", slog.Any("error", err))
	}
}

func digest(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}

// keyError is that of a key, not of what is done under it.
type keyError struct{ err error }

func (e *keyError) Error() string { return "the idempotency key: " + e.err.Error() }

func (e *keyError) Unwrap() error { return e.err }
