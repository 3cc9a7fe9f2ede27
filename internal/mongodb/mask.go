package mongodb

import "strings"

const masked = "***"

// secretOption reports whether the value of that option of a URI is a credential. Names are compared without case.
func secretOption(name string) bool {
	switch strings.ToLower(name) {
	case "authmechanismproperties", "tlscertificatekeyfilepassword", "sslclientcertificatekeypassword", "proxypassword":
		return true
	}
	return false
}

// Mask hides the credentials of a MongoDB URI, for logs. It needs no valid URI: everything before the last @ is
// hidden, so that a password with a raw @ or / in it does not show, and a text that is no URI is hidden whole.
func Mask(uri string) string {
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok {
		if uri == "" {
			return ""
		}
		return masked
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = masked + rest[at:]
	}
	address, query, ok := strings.Cut(rest, "?")
	if !ok {
		return scheme + "://" + rest
	}
	params := strings.Split(query, "&")
	for i, param := range params {
		if name, _, _ := strings.Cut(param, "="); secretOption(name) {
			params[i] = name + "=" + masked
		}
	}
	return scheme + "://" + address + "?" + strings.Join(params, "&")
}
