"""How good is denoising, with and without settings?

`denoising_methods` compares it with what one could use instead, `automatic_settings` with settings
chosen from the truth. `gain_by_noise` asks whether `hd.vision.denoise` ever makes a picture
worse. `picture_size` repeats the experiment of the paper at several sizes. Start at
`automatic_settings`, which also makes the test pictures.
"""
