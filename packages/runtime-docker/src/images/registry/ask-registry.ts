import type Docker from 'dockerode'
import type { AuthConfig } from 'dockerode'
import type { ImageReference } from '../image-reference.ts'

interface Modem {
  dial(options: object, callback: (err: Error | null, answer: unknown) => void): void
}

/**
 * The digest that the registry has for a reference, asked through the engine with these credentials and none else. The registry
 * is asked for a digest as well: that is how it is known that the caller may have it.
 *
 * @throws the engine's error; the abort reason
 */
export async function askRegistry(
  docker: Docker,
  { name }: ImageReference,
  { login, signal }: { readonly login: AuthConfig | undefined; readonly signal: AbortSignal },
): Promise<string> {
  // dockerode's own question cannot be aborted.
  const question = {
    path: `/distribution/${name}/json`,
    method: 'GET',
    authconfig: login,
    abortSignal: signal,
    statusCodes: { 200: true },
  }
  const answer = await new Promise<unknown>((resolve, reject) => {
    ;(docker.modem as Modem).dial(question, (err, data) => (err === null ? resolve(data) : reject(err)))
  })
  const digest = (answer as { Descriptor?: { digest?: string } } | undefined)?.Descriptor?.digest
  if (digest === undefined) throw new Error('the registry gave no digest')
  return digest
}
