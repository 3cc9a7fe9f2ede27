package listing

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"catalogue/pagination"
)

// maxLink is the longest next URL that is put into a header, in bytes: proxies refuse long headers, and the
// cursor stands in the body anyway.
const maxLink = 2 << 10

// plainHost is a host that can stand in a URL as it came. That of a request in the absolute form has not been
// checked by anybody, and may be missing.
var plainHost = regexp.MustCompile(`^[A-Za-z0-9.\-_~:\[\]]+$`)

// link sets the Link header (RFC 8288) with the whole URL of the next page, where there is one.
func (e *endpoint[T]) link(c *gin.Context, scope pagination.Scope, next string) {
	if next == "" {
		return
	}
	base := e.PublicURL
	if base == "" {
		if !plainHost.MatchString(c.Request.Host) {
			return
		}
		base = "http://" + c.Request.Host
	}
	given := c.Request.URL.Query()
	given.Del(paramCursor)
	names := slices.SortedFunc(maps.Keys(given), e.words.compare)
	var query strings.Builder
	for _, name := range names {
		query.WriteString(name + "=" + url.QueryEscape(given.Get(name)) + "&")
	}
	path := strings.Replace(e.list.Path, ":id", scope.Entity, 1)
	target := base + path + "?" + query.String() + paramCursor + "=" + next
	if len(target) <= maxLink {
		c.Header("Link", "<"+target+`>; rel="next"`)
	}
}
