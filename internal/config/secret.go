package config

import "log/slog"

// Secret is a text that shows itself to nobody who does not ask for it by name: printed, logged or encoded it is
// masked.
type Secret string

const masked = "***"

// Reveal returns the text itself.
func (s Secret) Reveal() string { return string(s) }

// String returns a mask, or nothing for an empty secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return masked
}

// GoString returns the mask for %#v.
func (s Secret) GoString() string { return s.String() }

// MarshalText returns the mask, for JSON among others.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue returns the mask.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
