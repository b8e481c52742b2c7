import { env } from '../config/parse-config.ts'
import { readCertificates } from './certificates.ts'
import { readHttpProxy, type HttpProxy } from './http-proxy.ts'

/** How everything of an installation reaches the network outside (docs/company-proxy.md). Apps include them in their own settings. */
export const OUTBOUND_SETTINGS = {
  extraCa: env.checked('SANDYARD_EXTRA_CA', readCertificates, {
    default: [],
    kind: 'text',
    doc: 'A file with certificate authorities in PEM that sandboxes, builds and the server trust beside the public ones, as those of a proxy that ends TLS.',
  }),
  httpProxy: env.checked('SANDYARD_HTTP_PROXY', readHttpProxy, {
    default: undefined,
    kind: 'secret',
    doc: 'The HTTP proxy of the network, http://[user:password@]host:port. Sandboxes and builds get it, with the password.',
  }),
  noProxy: env.list('SANDYARD_NO_PROXY', {
    default: [],
    doc: 'Names (`.example.com`) and addresses that are reached without that proxy. The loopback addresses always are.',
  }),
} as const

export interface Outbound {
  /** Certificates in PEM, one in each text. */
  readonly extraCa: readonly string[]
  readonly httpProxy: HttpProxy | undefined
  readonly noProxy: readonly string[]
}

/** An installation that needs neither. */
export const DIRECT: Outbound = { extraCa: [], httpProxy: undefined, noProxy: [] }

/** The outbound settings of settings that include them. */
export function outboundOf({ extraCa, httpProxy, noProxy }: Outbound): Outbound {
  return { extraCa, httpProxy, noProxy }
}
