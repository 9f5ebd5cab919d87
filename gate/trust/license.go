package trust

import (
	"errors"
	"fmt"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
)

// MaxLicense is how large a license text may be: the longest in the table has
// some 35 kB.
const MaxLicense = 1 << 20

// LicenseNames are the files of the project's root that may hold the license
// text; the first that exists counts.
func LicenseNames() []string {
	return []string{"LICENSE", "LICENSE.md", "LICENSE.txt", "LICENCE", "LICENCE.md"}
}

// licenseText says how to recognise the text of a license: by words it has and
// words it has not, in lower case with single blanks.
type licenseText struct {
	has []string
	// not are words that another license of the family has.
	not []string
	// title: the words of has are the beginning of the text, in this order, and
	// not is looked for before the last of them only. The full texts of the GNU
	// licenses name each other further down: version 3 of the GPL has a section
	// on the AGPL and ends in a word on the LGPL.
	title bool
}

var licenseTexts = func() map[string]licenseText {
	bsd := "redistribution and use in source and binary forms"
	family := []string{"lesser general public", "affero general public"}
	m := map[string]licenseText{
		"MIT":          {has: []string{"permission is hereby granted, free of charge"}},
		"Apache-2.0":   {has: []string{"apache license", "version 2.0"}},
		"ISC":          {has: []string{"permission to use, copy, modify, and/or distribute this software"}},
		"BSD-2-Clause": {has: []string{bsd}, not: []string{"neither the name"}},
		"BSD-3-Clause": {has: []string{bsd, "neither the name"}},
		"MPL-2.0":      {has: []string{"mozilla public license", "version 2.0"}},
		"Unlicense":    {has: []string{"this is free and unencumbered software released into the public domain"}},
	}
	for _, suffix := range []string{"", "-only", "-or-later"} {
		m["GPL-2.0"+suffix] = licenseText{has: []string{"gnu general public license", "version 2,"}, not: family, title: true}
		m["GPL-3.0"+suffix] = licenseText{has: []string{"gnu general public license", "version 3,"}, not: family, title: true}
		m["LGPL-3.0"+suffix] = licenseText{has: []string{"gnu lesser general public license", "version 3,"}, title: true}
		m["AGPL-3.0"+suffix] = licenseText{has: []string{"gnu affero general public license", "version 3,"}, title: true}
	}
	return m
}()

// licenseMatches is the built-in check of that name. Where it fails it says why,
// as the end of a sentence.
func licenseMatches(in Input) (why string, ok bool) {
	id, err := declaredLicense(in.PackageJSON)
	if err != nil {
		return err.Error(), false
	}
	want, known := licenseTexts[id]
	if !known {
		return fmt.Sprintf("the license %s of package.json is none of those whose text this check knows", quote(id)), false
	}
	name := in.LicenseName
	switch in.License.State {
	case gate.Present:
	case gate.Absent:
		return "the project has none of " + strings.Join(LicenseNames(), ", "), false
	case gate.NotRegular, gate.TooLarge, gate.Unreadable:
		return fmt.Sprintf("%s cannot be read: %s", name, safetext.Clean(in.License.Err.Error())), false
	}
	text := strings.Join(strings.Fields(strings.ToLower(string(in.License.Data))), " ")
	from := 0
	for _, words := range want.has {
		i := strings.Index(text[from:], words)
		if i < 0 {
			return fmt.Sprintf("package.json declares %s, and %s does not have the words “%s” of that license", id, name, words), false
		}
		if want.title {
			from += i
		}
	}
	if want.title {
		text = text[:from]
	}
	for _, words := range want.not {
		if strings.Contains(text, words) {
			return fmt.Sprintf("package.json declares %s, and %s has the words “%s” of another license", id, name, words), false
		}
	}
	return "", true
}

// declaredLicense gives the string `license` of package.json.
func declaredLicense(doc gate.Document) (string, error) {
	switch doc.State {
	case gate.Present:
	case gate.Absent:
		return "", errors.New("the project has no package.json that declares a license")
	case gate.NotRegular, gate.TooLarge, gate.Unreadable:
		return "", errors.New("package.json cannot be read: " + safetext.Clean(doc.Err.Error()))
	}
	parsed, err := jsondoc.Parse(doc.Data, jsondoc.Options{MaxDepth: gate.MaxDepth})
	if err != nil {
		return "", errors.New("package.json cannot be read: " + err.Error())
	}
	v := parsed.Root.Get("license")
	switch {
	case v == nil:
		return "", errors.New("package.json declares no license")
	case !v.Is(jsondoc.String):
		return "", fmt.Errorf("the license of package.json is a value of the kind %s, not a string", v.Kind)
	}
	return v.Text, nil
}
