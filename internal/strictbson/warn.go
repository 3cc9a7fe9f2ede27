package strictbson

import (
	"context"
	"log/slog"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Warn logs the misfits of one stored document, in one line that names it. Without misfits it is silent.
func Warn(ctx context.Context, log *slog.Logger, collection string, id bson.ObjectID, misfits []string) {
	if len(misfits) == 0 {
		return
	}
	log.WarnContext(ctx, "stored values do not fit their fields and are shown as absent",
		slog.String("collection", collection),
		slog.String("id", id.Hex()),
		slog.String("fields", strings.Join(misfits, ", ")))
}
