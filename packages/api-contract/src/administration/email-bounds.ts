/** RFC 5321, 4.5.3.1.3, without the angle brackets. */
export const MAX_EMAIL_LENGTH = 254
export const EMAIL_PATTERN = String.raw`^[^@\s]+@[^@\s]+$`
