package service_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"catalogue/bench/service"
)

func TestNextCursor(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"data":[],"meta":{"next_cursor":null,"total":0}}`:                                "",
		`{"data":[],"meta":{"next_cursor":"abc-_","total":null}}`:                          "abc-_",
		`{"data":[{"note":"\"next_cursor\":\"x\""}],"meta":{"next_cursor":"y","total":1}}`: "y",
	} {
		got, err := service.Page{Body: []byte(body)}.NextCursor()
		require.NoError(t, err, body)
		require.Equal(t, want, got, body)
	}
}

func TestNextCursorOfSomethingElse(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		``, `{}`, `{"next_cursor":`, `{"next_cursor":"`, `{"next_cursor":"abc`, `{"next_cursor":7}`, `{"next_cursor":"a\"b"}`,
	} {
		_, err := service.Page{Body: []byte(body)}.NextCursor()
		require.ErrorContains(t, err, "next_cursor", body)
	}
}
