/** A delivery with so many attempts is not sent again when somebody asks for it. */
export const MOST_ATTEMPTS = 50
