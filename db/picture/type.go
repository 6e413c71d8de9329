package picture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"herald/db/model"
)

// Type is a media type that Herald takes.
type Type string

// The types that Herald takes.
const (
	JPEG Type = "image/jpeg"
	PNG  Type = "image/png"
	WebP Type = "image/webp"
	GIF  Type = "image/gif"
	HEIC Type = "image/heic" // what phones write; made a JPEG before anything else
	MP4  Type = "video/mp4"
	MOV  Type = "video/quicktime" // made an MP4 before anything else
	PDF  Type = "application/pdf" // counted and drawn by others; no picture here
)

// HeadSize is how many first bytes Sniff and Recognize want to see.
const HeadSize = 1024

const taken = "Upload a JPEG, PNG, WebP, GIF or HEIC picture, an MP4 or MOV video, or a PDF."

// Ext is the file name extension of a type, without a dot.
func (t Type) Ext() string {
	return map[Type]string{JPEG: "jpg", PNG: "png", WebP: "webp", GIF: "gif", HEIC: "heic", MP4: "mp4", MOV: "mov", PDF: "pdf"}[t]
}

// Video says whether it moves.
func (t Type) Video() bool { return t == MP4 || t == MOV }

// Sniff tells the type by the first bytes; names and claims do not count. ok
// is false for everything that Herald does not take.
func Sniff(head []byte) (t Type, ok bool) {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return JPEG, true
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return PNG, true
	case len(head) >= 16 && string(head[:4]) == "RIFF" && string(head[8:15]) == "WEBPVP8":
		return WebP, true
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return GIF, true
	case isHEIC(brands(head)):
		return HEIC, true
	case isMP4(brands(head)):
		return MP4, true
	case isMOV(head):
		return MOV, true
	case bytes.HasPrefix(head, []byte("%PDF-")):
		return PDF, true
	}
	return "", false
}

// Recognize is Sniff for a person: it refuses in a sentence that says what the
// file is, and that the name does not make it something else.
func Recognize(name string, head []byte) (Type, error) {
	if t, ok := Sniff(head); ok {
		return t, nil
	}
	file := displayName(name)
	if len(head) == 0 {
		return "", model.Refuse(model.Unprocessable, file+" is empty. "+taken)
	}
	what, advice := describe(head)
	lie := ""
	if claimsTaken(name) {
		lie = ", whatever its name says"
	}
	return "", model.Refuse(model.Unprocessable, fmt.Sprintf("%s is %s%s. %s", file, what, lie, advice))
}

func claimsTaken(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".jpg", ".jpeg", ".png", ".webp", ".gif", ".heic", ".heif", ".mp4", ".mov", ".pdf":
		return true
	}
	return false
}

// displayName quotes a file name for a sentence: the last part, at most 60
// characters, nothing invisible and no mark that turns the text around.
func displayName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	clean := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "")))
	if len(clean) > 60 {
		clean = append(clean[:59], '…')
	}
	if len(clean) == 0 {
		return "This file"
	}
	return "“" + string(clean) + "”"
}

// describe names what people do upload by mistake.
func describe(head []byte) (what, advice string) {
	text := strings.ToLower(string(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")))
	has := func(prefixes ...string) bool {
		for _, p := range prefixes {
			if strings.HasPrefix(text, p) {
				return true
			}
		}
		return false
	}
	switch b := brands(head); {
	case b.has("avif", "avis"), b.has("mif1") && slices.Contains(b, "avif"):
		return "an AVIF picture", "Export it as JPEG, PNG or WebP and upload that."
	case b.has("hevc", "hevx", "msf1", "mif1"):
		return "a series of HEIC photos, or HEIC of a rare kind", "Export the one that you want as JPEG and upload that."
	case has("<svg") || strings.HasPrefix(text, "<?xml") && strings.Contains(text, "<svg"):
		return "an SVG drawing", "Export it as PNG and upload that."
	case has("<!doctype html", "<html", "<head", "<body", "<script", "<!--", "<iframe", "<title"):
		return "a web page (HTML)", taken
	case has("ii*\x00", "mm\x00*"):
		return "a TIFF or raw picture", "Export it as JPEG or PNG and upload that."
	case bytes.HasPrefix(head, []byte("\x1a\x45\xdf\xa3")):
		return "a WebM or Matroska video", "Export it as MP4 and upload that."
	case has("pk\x03\x04"):
		return "a ZIP archive or an office document", taken
	}
	return "of a kind that Herald doesn't take", taken
}

// brandList is what the ftyp box at the start of a file of the MP4 family says:
// the major brand first.
type brandList []string

func brands(head []byte) brandList {
	if len(head) < 16 || string(head[4:8]) != "ftyp" {
		return nil
	}
	size := binary.BigEndian.Uint32(head)
	if size < 16 || size%4 != 0 || size > HeadSize || int(size) > len(head) {
		return nil
	}
	list := brandList{string(head[8:12])}
	for at := 16; at+4 <= int(size); at += 4 {
		list = append(list, string(head[at:at+4]))
	}
	return list
}

func (b brandList) has(any ...string) bool {
	for _, brand := range any {
		if len(b) > 0 && b[0] == brand {
			return true
		}
	}
	return false
}

// isHEIC takes a photo whose pixels are HEVC. What only says that it is some still
// of the family (mif1) has to say that it is compatible with that.
func isHEIC(b brandList) bool {
	return b.has("heic", "heix", "heim", "heis") || b.has("mif1") && slices.Contains(b, "heic")
}

// isMOV takes QuickTime's own brand, and the first boxes of movies of before there
// were brands.
func isMOV(head []byte) bool {
	if b := brands(head); len(b) > 0 {
		return b.has("qt  ")
	}
	return len(head) >= 16 && slices.Contains([]string{"moov", "wide", "mdat"}, string(head[4:8]))
}

// isMP4 takes an MP4 brand, or a maker's own one that says it is compatible
// with one. QuickTime, stills and pure sound say so too and are not video/mp4.
func isMP4(b brandList) bool {
	if len(b) == 0 || b.has("qt  ", "M4A ", "M4B ", "M4P ", "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1", "avif", "avis", "crx ") {
		return false
	}
	for _, brand := range b {
		switch brand {
		case "isom", "iso2", "iso3", "iso4", "iso5", "iso6", "iso7", "iso8", "iso9", "mp41", "mp42", "avc1", "M4V ", "dash":
			return true
		}
	}
	return false
}
