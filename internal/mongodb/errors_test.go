package mongodb_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/internal/mongodb"
	"catalogue/internal/problem"
)

func TestConvertByCode(t *testing.T) {
	t.Parallel()
	for code, want := range map[int32]problem.Code{
		6: problem.DatabaseUnavailable, 7: problem.DatabaseUnavailable, 89: problem.DatabaseUnavailable,
		91: problem.DatabaseUnavailable, 133: problem.DatabaseUnavailable, 134: problem.DatabaseUnavailable,
		189: problem.DatabaseUnavailable, 9001: problem.DatabaseUnavailable, 10058: problem.DatabaseUnavailable,
		10107: problem.DatabaseUnavailable, 11600: problem.DatabaseUnavailable, 11602: problem.DatabaseUnavailable,
		13435: problem.DatabaseUnavailable, 13436: problem.DatabaseUnavailable,
		50: problem.QueryTimeout, 262: problem.QueryTimeout,
		10334: problem.BodyTooLarge, 17419: problem.BodyTooLarge, 17420: problem.BodyTooLarge,
	} {
		err := fmt.Errorf("read a page: %w", mongo.CommandError{Code: code, Message: "no word of this is looked at"})
		requireCode(t, want, mongodb.Convert(err))
		require.Equal(t, want == problem.DatabaseUnavailable, mongodb.IsTransient(err), "code %d", code)
	}
}

func TestConvertLeavesOtherErrorsAlone(t *testing.T) {
	t.Parallel()
	require.NoError(t, mongodb.Convert(nil))
	for _, err := range []error{
		mongo.CommandError{Code: 2},
		mongo.CommandError{Code: 13},
		mongo.CommandError{Code: 26},
		mongo.ErrNoDocuments, errors.New("context deadline exceeded"), problem.New(problem.NotFound, "gone"),
		fmt.Errorf("wrapped: %w", &problem.Problem{Code: problem.NotFound, Cause: context.Canceled}),
	} {
		require.Equal(t, err, mongodb.Convert(err))
		require.False(t, mongodb.IsTransient(err))
	}
}

func TestConvertOfContexts(t *testing.T) {
	t.Parallel()
	requireCode(t, problem.ClientClosedRequest, mongodb.Convert(fmt.Errorf("read: %w", context.Canceled)))
	requireCode(t, problem.QueryTimeout, mongodb.Convert(fmt.Errorf("read: %w", context.DeadlineExceeded)))
}

// A page whose server-side cursor or plan vanished is read again.
func TestIsTransientOfVanishedCursors(t *testing.T) {
	t.Parallel()
	require.False(t, mongodb.IsTransient(nil))
	require.True(t, mongodb.IsTransient(mongo.CommandError{Code: 43}))
	require.True(t, mongodb.IsTransient(mongo.CommandError{Code: 175}))
}

func TestMask(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"":                              "",
		"mongodb://localhost":           "mongodb://localhost",
		"mongodb://h1:1,h2:2/db?w=1":    "mongodb://h1:1,h2:2/db?w=1",
		"mongodb://u:s3cr3t@h:1/db":     "mongodb://***@h:1/db",
		"mongodb://u:s3@cr/3t@h:1/db":   "mongodb://***@h:1/db",
		"mongodb+srv://u:s3cr3t@h/?a=b": "mongodb+srv://***@h/?a=b",
		"mongodb://h/?tlsCertificateKeyFilePassword=s3cr3t&w=1": "mongodb://h/?tlsCertificateKeyFilePassword=***&w=1",
		"mongodb://h/?AUTHMECHANISMPROPERTIES=TOKEN:s3cr3t":     "mongodb://h/?AUTHMECHANISMPROPERTIES=***",
		"u:s3cr3t@host": "***",
		"s3cr3t":        "***",
	} {
		require.Equal(t, want, mongodb.Mask(uri))
	}
}
