package mongodb

import (
	"context"
	"math"
	"time"
)

// MaxTimeMS returns the whole milliseconds left before the deadline of ctx, for the maxTimeMS of a command built by
// hand. It reports false where ctx has no deadline, or one too far away for the server's 32 bits. A deadline that
// has passed gives 1, since 0 would mean no limit.
func MaxTimeMS(ctx context.Context) (int64, bool) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0, false
	}
	left := time.Until(deadline).Milliseconds()
	if left > math.MaxInt32 {
		return 0, false
	}
	return max(left, 1), true
}
