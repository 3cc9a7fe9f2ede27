package editing

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"catalogue/internal/idempotency"
	"catalogue/internal/problem"
	"catalogue/internal/strictjson"
)

// The headers of writes.
const (
	// UserHeader names the user, where it is trusted.
	UserHeader     = "X-Catalogue-User"
	keyHeader      = "Idempotency-Key"
	replayedHeader = "Idempotent-Replayed"
)

// The media types of bodies.
const (
	typeJSON       = "application/json"
	typeMergePatch = "application/merge-patch+json"
)

// bodyKind is how a route takes its body.
type bodyKind int

const (
	noBody bodyKind = iota
	jsonBody
	patchBody
	batchBody
)

// incoming is what a write's headers and body say.
type incoming struct {
	user      string
	key       string // of idempotency, empty where there is none
	condition condition
	body      strictjson.Value
}

// read takes a request apart, in the order in which refusals are answered.
func (s Services) read(c *gin.Context, kind bodyKind) (incoming, error) {
	var in incoming
	var err error
	if in.user, err = s.user(c.Request.Header); err != nil {
		return incoming{}, err
	}
	var data []byte
	if kind != noBody {
		if err := checkMediaType(c.Request.Header, kind); err != nil {
			return incoming{}, err
		}
		if data, err = readBody(c, kind); err != nil {
			return incoming{}, err
		}
	}
	if c.Request.Method == http.MethodPost {
		in.key, err = parseKey(c.Request.Header.Values(keyHeader))
	} else {
		in.condition, err = parseIfMatch(c.Request.Header.Values("If-Match"))
	}
	if err != nil {
		return incoming{}, err
	}
	if kind != noBody {
		if in.body, err = strictjson.Read(data); err != nil {
			return incoming{}, err
		}
	}
	return in, nil
}

// user is who writes.
func (s Services) user(h http.Header) (string, error) {
	if !s.TrustUser {
		return "", problem.New(problem.UserRequired, "This server takes no writes: it trusts nobody to say who the user is.")
	}
	names := h.Values(UserHeader)
	if len(names) != 1 || !isUser(names[0]) {
		return "", problem.New(problem.UserRequired,
			"Send the user once in the header %s: 1 to %d characters of UTF-8 text.", UserHeader, maxUser)
	}
	return names[0], nil
}

func isUser(name string) bool {
	return name != "" && utf8.ValidString(name) && utf8.RuneCountInString(name) <= maxUser &&
		!strings.ContainsFunc(name, unicode.IsControl)
}

// checkMediaType refuses bodies that are no JSON, or not in UTF-8.
func checkMediaType(h http.Header, kind bodyKind) error {
	types := []string{typeJSON}
	if kind == patchBody {
		types = []string{typeMergePatch, typeJSON}
	}
	given := h.Values("Content-Type")
	if len(given) == 1 && isOneOf(given[0], types) && isPlain(h.Values("Content-Encoding")) {
		return nil
	}
	list := strings.Join(types, ", ")
	p := problem.New(problem.MediaTypeUnsupported, "The body has to be %s in UTF-8, and not compressed.", strings.Join(types, " or "))
	if kind == patchBody {
		p.Header = map[string]string{"Accept-Patch": list}
	}
	return p
}

func isOneOf(contentType string, types []string) bool {
	media, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || !slices.Contains(types, media) {
		return false
	}
	charset, given := parameters["charset"]
	return !given || strings.EqualFold(charset, "utf-8")
}

func isPlain(encodings []string) bool {
	return len(encodings) == 0 || len(encodings) == 1 && strings.EqualFold(encodings[0], "identity")
}

func readBody(c *gin.Context, kind bodyKind) ([]byte, error) {
	limit := int64(maxBody)
	if kind == batchBody {
		limit = maxBatchBody
	}
	tooLarge := problem.New(problem.BodyTooLarge, "The body is longer than %d bytes.", limit)
	if c.Request.ContentLength > limit {
		return nil, tooLarge
	}
	data, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, limit))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, tooLarge
	}
	if err != nil {
		return nil, problem.New(problem.BodyMalformed, "The body could not be read to its end.")
	}
	return data, nil
}

// parseKey reads an Idempotency-Key, empty where none was sent.
func parseKey(values []string) (string, error) {
	if len(values) == 0 {
		return "", nil
	}
	if len(values) > 1 {
		return "", problem.New(problem.KeyMalformed, "%s is there twice; give it once.", keyHeader)
	}
	return values[0], idempotency.CheckKey(values[0])
}
