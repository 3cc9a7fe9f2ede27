package indexes

import (
	"errors"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Codes of the server, under the names it gives them.
const (
	codeUnauthorized          = 13
	codeNamespaceNotFound     = 26
	codeIndexNotFound         = 27
	codeIndexOptionsConflict  = 85
	codeIndexKeySpecsConflict = 86
	codeUnknownField          = 40415 // it has no name
)

// hasCode reports whether the server answered with one of the codes.
func hasCode(err error, codes ...int) bool {
	server, ok := errors.AsType[mongo.ServerError](err)
	if !ok {
		return false
	}
	for _, code := range codes {
		if server.HasErrorCode(code) {
			return true
		}
	}
	return false
}
