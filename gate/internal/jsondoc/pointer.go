package jsondoc

import "strings"

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// PointerToken spells a key as one token of a JSON Pointer (RFC 6901).
func PointerToken(key string) string { return pointerEscapes.Replace(key) }
