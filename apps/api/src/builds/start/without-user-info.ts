/** Name and password before a host, as in a URL. References cannot have them, but people add them. A digest also contains `@`. */
const USER_INFO = /^([a-z]+:\/\/)?[^/@]*:[^/@]*@(?!sha256:)/i

/** An image reference that is safe to store and log: passwords are masked. */
export function withoutUserInfo(reference: string): string {
  return reference.replace(USER_INFO, '$1***@')
}
