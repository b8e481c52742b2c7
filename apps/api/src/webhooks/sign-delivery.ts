import { createHash } from 'node:crypto'

/** With this many the chance that no body has such a signature is one in 10^8. */
const MAX_SPACES = 64

export interface SignedBody {
  readonly body: string
  readonly signature: string
}

/**
 * Signs a JSON text: base64 of SHA-256 over the secret and the body, without padding (dashboard-and-cli.md 2.1). Some receivers compare with the URL-safe
 * alphabet and some with the standard one, so spaces are added behind the JSON until the signature is the same in both.
 */
export function signDelivery(secret: string, json: string): SignedBody {
  for (let spaces = 0; spaces < MAX_SPACES; spaces += 1) {
    const body = json + ' '.repeat(spaces)
    const signature = sign(secret, body)
    if (!/[+/]/.test(signature)) return { body, signature }
  }
  return { body: json, signature: sign(secret, json) }
}

function sign(secret: string, body: string): string {
  return createHash('sha256').update(secret).update(body).digest('base64').replaceAll('=', '')
}
