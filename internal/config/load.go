package config

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
)

const (
	fileSuffix      = "_FILE"
	trustUserHeader = "CATALOGUE_TRUST_USER_HEADER" // its default is another one in development
)

// Load reads the server's configuration from variables in the form of os.Environ. Its error names every mistake.
func Load(environ []string) (Config, error) {
	c, m := parse[Config](environ)
	m.checkBase(c.Base)
	m.checkServer(c)
	if env.ToMap(environ)[trustUserHeader] == "" {
		c.TrustUserHeader = c.Env == Development
	}
	if err := m.err(); err != nil {
		return Config{}, err
	}
	if len(c.CursorKeys) == 0 {
		c.CursorKeys = []Secret{Secret(rand.Text() + rand.Text())}
		c.CursorKeyIsRandom = true
	}
	return c, nil
}

// LoadBase reads what commands need that only work on the database. Its error names every mistake.
func LoadBase(environ []string) (Base, error) {
	b, m := parse[Base](environ)
	m.checkBase(b)
	if err := m.err(); err != nil {
		return Base{}, err
	}
	return b, nil
}

// LoadAddress reads where the server listens.
func LoadAddress(environ []string) (Address, error) {
	a, m := parse[Address](environ)
	m.checkAddress(a)
	if err := m.err(); err != nil {
		return Address{}, err
	}
	return a, nil
}

// parse reads the variables into the fields of T. Whatever is wrong is noted, under the variable's name.
func parse[T any](environ []string) (T, *mistakes) {
	m := &mistakes{wrong: map[string]bool{}}
	fields := fieldsOf[T]()
	vars := env.ToMap(environ)
	maps.DeleteFunc(vars, func(_, value string) bool { return value == "" })
	for name, field := range fields {
		if isSecret(field.Type) {
			m.readFile(vars, name)
		}
	}

	var parsed T
	err := env.ParseWithOptions(&parsed, env.Options{Environment: vars})
	var all env.AggregateError
	if err != nil && !errors.As(err, &all) {
		m.note("environment", "%v", err)
	}
	for _, err := range all.Errors {
		m.misparsed(err, fields, vars)
	}
	return parsed, m
}

// fieldsOf returns the fields of T, those of embedded structs included, by the name of their variable.
func fieldsOf[T any]() map[string]reflect.StructField {
	fields := map[string]reflect.StructField{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if name := f.Tag.Get("env"); name != "" {
			fields[name] = f
		}
	}
	return fields
}

func isSecret(t reflect.Type) bool {
	return t == reflect.TypeFor[Secret]() || t == reflect.TypeFor[[]Secret]()
}

// readFile puts the content of the file that NAME_FILE names under NAME.
func (m *mistakes) readFile(vars map[string]string, name string) {
	path := vars[name+fileSuffix]
	if path == "" {
		return
	}
	if vars[name] != "" {
		m.note(name, "is set beside %s%s; only one of them may be", name, fileSuffix)
		return
	}
	content, err := os.ReadFile(path)
	if err != nil {
		m.note(name+fileSuffix, "%v", err)
		m.wrong[name] = true // not missing as well
		return
	}
	vars[name] = strings.TrimRight(string(content), "\r\n")
	if vars[name] == "" {
		m.note(name+fileSuffix, "the file is empty: %s", path)
		m.wrong[name] = true
	}
}

// misparsed notes an error of the parser in our words: its own name the field of the struct, not the variable.
func (m *mistakes) misparsed(err error, fields map[string]reflect.StructField, vars map[string]string) {
	parse, ok := errors.AsType[env.ParseError](err)
	if !ok {
		m.note("environment", "%v", err)
		return
	}
	for name, field := range fields {
		if field.Name == parse.Name {
			m.note(name, "%q is %s", vars[name], expectation(field.Type))
		}
	}
}

func expectation(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return "no duration such as 500ms or 10s"
	case reflect.TypeFor[slog.Level]():
		return "none of debug, info, warn, error"
	case reflect.TypeFor[bool]():
		return "neither 1 nor 0"
	case reflect.TypeFor[int](), reflect.TypeFor[uint64]():
		return "no whole number from 0"
	default:
		return fmt.Sprintf("no value of type %s", t)
	}
}
