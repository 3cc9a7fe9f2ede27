package rediscache

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

const masked = "***"

// CheckURL reports what is wrong with a URL, without a look at any server.
func CheckURL(raw string) error {
	_, err := parse(raw)
	return err
}

// Mask hides the credentials of a URL, for logs. It needs no valid URL: everything before the last @ is hidden, so
// that a password with a raw @ or / in it does not show, and a text that is no URL is hidden whole.
func Mask(raw string) string {
	scheme, rest, ok := strings.Cut(raw, "://")
	switch {
	case raw == "":
		return ""
	case !ok:
		return masked
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = masked + rest[at:]
	}
	return scheme + "://" + rest
}

// parse keeps the words of the parsers only where the URL has no credentials that they could repeat.
func parse(raw string) (*redis.Options, error) {
	o, err := parseURL(raw)
	switch {
	case err == nil:
		return o, nil
	case strings.Contains(raw, "@"):
		return nil, errors.New("the Redis URL is not valid (what is wrong is not shown, since it holds credentials)")
	default:
		return nil, fmt.Errorf("the Redis URL is not valid: %w", err)
	}
}

func parseURL(raw string) (*redis.Options, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, err
	}
	switch {
	case u.Scheme != "redis" && u.Scheme != "rediss":
		return nil, errors.New("it must begin with redis:// or rediss://, such as redis://127.0.0.1:6379/0")
	case u.Hostname() == "":
		return nil, errors.New("the host is missing")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errors.New("it may not have options; the number of the database is its path")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, fmt.Errorf("%q is no port of 1 to 65535", port)
		}
	}
	o, err := redis.ParseURL(raw)
	if err != nil {
		return nil, err
	}
	if o.DB < 0 {
		return nil, fmt.Errorf("%d is no number of a database", o.DB)
	}
	return o, nil
}

// hider masks the credentials where a server repeats them: an old one does so with a command that it does not know.
func hider(o *redis.Options) *strings.Replacer {
	var pairs []string
	for _, secret := range []string{o.Password, o.Username} {
		if secret != "" {
			pairs = append(pairs, secret, masked)
		}
	}
	return strings.NewReplacer(pairs...)
}
