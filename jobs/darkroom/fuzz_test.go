package darkroom

import "testing"

// FuzzLook: ffprobe tells of strangers' files in their own words.
func FuzzLook(f *testing.F) {
	f.Add([]byte(`{"streams":[{"codec_type":"video","codec_name":"h264","width":10,"height":20,"avg_frame_rate":"30/1","side_data_list":[{"rotation":-90}]}],"format":{"duration":"1.5"}}`))
	f.Add([]byte(`{"streams":[{"codec_type":"video","codec_name":"x","avg_frame_rate":"1/0","nb_frames":"-1"}],"format":{"duration":"NaN"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := readLook(b)
		if err == nil && (l.VideoCodec == "" || l.Rotation%90 != 0 || l.Rotation < 0 || l.Rotation > 270 || l.Duration < 0) {
			t.Errorf("%+v", l)
		}
	})
}
