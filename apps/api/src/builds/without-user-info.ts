/** Name and password before a host, as in a URL: no reference has them, and people put them there. A digest has its `@` too. */
const USER_INFO = /^([a-z]+:\/\/)?[^/@]*:[^/@]*@(?!sha256:)/i

/** An image reference as it may be stored and shown: what is no reference anyway must not carry a password into logs. */
export function withoutUserInfo(reference: string): string {
  return reference.replace(USER_INFO, '$1***@')
}
