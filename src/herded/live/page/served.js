// The server of `herded live` has another file in this place.
export const served = false;
