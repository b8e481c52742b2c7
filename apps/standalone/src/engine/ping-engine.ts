import Docker from 'dockerode'

/** The result of a ping to the engine's address. `stuck`: a listener accepts the request and does not answer it. */
export type EnginePing =
  | { readonly kind: 'answers'; readonly version: string; readonly rootDirectory: string }
  | { readonly kind: 'denied' }
  | { readonly kind: 'stuck' }
  | { readonly kind: 'silent'; readonly reason: string }

const PING_TIMEOUT_MS = 15_000

/** The engine's address for messages: `DOCKER_HOST`, or the default socket. */
export function engineAddress(dockerHost: string | undefined): string {
  return dockerHost === undefined || dockerHost === '' ? '/var/run/docker.sock' : dockerHost
}

/** Asks the engine at `DOCKER_HOST` (else the default socket) for its version. Never throws. */
export async function pingEngine(options: Docker.DockerOptions = {}): Promise<EnginePing> {
  try {
    const docker = new Docker({ timeout: PING_TIMEOUT_MS, ...options })
    const info: unknown = await docker.info()
    const { ServerVersion, DockerRootDir } = info as { ServerVersion?: string; DockerRootDir?: string }
    if (ServerVersion === undefined || ServerVersion === '') return { kind: 'silent', reason: 'it does not say its version' }
    return { kind: 'answers', version: ServerVersion, rootDirectory: DockerRootDir ?? '' }
  } catch (err) {
    const { code, message } = err as NodeJS.ErrnoException
    if (code === 'EACCES' || code === 'EPERM') return { kind: 'denied' }
    // The timeout ended an open connection.
    return code === 'ECONNRESET' || code === 'ETIMEDOUT' ? { kind: 'stuck' } : { kind: 'silent', reason: message }
  }
}
