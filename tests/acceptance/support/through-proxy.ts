import { rawRequest, type RawAnswer, type RawRequest } from './raw-http.ts'
import { server } from './server.ts'

/** The port of the daemon in every sandbox. */
export const daemonPort = 49_983

/** The two headers that name a sandbox's port to the proxy when the host is an address or `localhost`. */
export function headerForm(sandboxId: string, port: number): Record<string, string> {
  return { 'e2b-sandbox-id': sandboxId, 'e2b-sandbox-port': String(port) }
}

/** The host name that names a sandbox's port to the proxy. */
export function hostForm(sandboxId: string, port: number): Record<string, string> {
  return { host: `${port}-${sandboxId}.sandyard.test` }
}

/** One request to the proxy, addressed by `form`. */
export async function throughProxy(form: Record<string, string>, request: RawRequest): Promise<RawAnswer> {
  return rawRequest(server.sandboxUrl, { ...request, headers: { ...form, ...request.headers } })
}
