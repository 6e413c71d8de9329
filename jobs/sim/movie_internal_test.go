package sim

import (
	"encoding/binary"
	"testing"
	"time"
)

func mp4Box(name string, body []byte) []byte {
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+8)), name...), body...)
}

// mp4 is the header of a film of 1080 x 1920 pixels and ten seconds.
func mp4() []byte {
	mvhd := make([]byte, 100)
	binary.BigEndian.PutUint32(mvhd[12:], 1000)
	binary.BigEndian.PutUint32(mvhd[16:], 10_000)
	tkhd := make([]byte, 84)
	binary.BigEndian.PutUint32(tkhd[76:], 1080<<16)
	binary.BigEndian.PutUint32(tkhd[80:], 1920<<16)
	sound := mp4Box("trak", mp4Box("tkhd", make([]byte, 84)))
	moov := append(mp4Box("mvhd", mvhd), append(mp4Box("trak", mp4Box("tkhd", tkhd)), sound...)...)
	return append(mp4Box("ftyp", []byte("isom\x00\x00\x02\x00")), mp4Box("moov", moov)...)
}

func TestAFilmsHeaderSaysHowLargeAndHowLongItIs(t *testing.T) {
	t.Parallel()
	if wide, high, long := film(mp4()); wide != 1080 || high != 1920 || long != 10*time.Second {
		t.Errorf("got %d x %d, %v", wide, high, long)
	}
	if wide, high, long := film(mp4()[:60]); wide+high != 0 || long != 0 {
		t.Errorf("of a header cut short: %d x %d, %v", wide, high, long)
	}
}

func FuzzFilmNeverPanics(f *testing.F) {
	f.Add(mp4())
	f.Add(mp4()[:50])
	f.Add([]byte("\x00\x00\x00\x01moov\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if wide, high, long := film(data); wide < 0 || high < 0 || long < 0 {
			t.Errorf("%d x %d, %v", wide, high, long)
		}
	})
}
