import { checkServerIdentity, connect, type PeerCertificate } from 'node:tls'
import { randomId } from '@sandyard/kit/ids/ids'
import { fail, ok, skipped, warn, worstOf, type Check, type Finding } from '../check.ts'
import { hostnameOf, isHttps } from '../facts/addresses.ts'
import type { Facts } from '../facts/facts.ts'

const WARN_DAYS = 21
const FAIL_DAYS = 3
const DAY_MS = 24 * 3_600_000
const TIMEOUT_MS = 10_000

export const certificates: Check = {
  id: 'T1',
  title: 'Certificates',
  checks:
    'of the name of `SANDYARD_API_URL` and of a name below `SANDYARD_DOMAIN`: a chain or a name that is not valid fails, under 21 days warn, under 3 days fail',
  why: 'Clients refuse the connection, to the API or to every sandbox.',
  todo: 'Renew the certificate; it needs the name of the API and the wildcard *.<domain>, and the server must send its whole chain.',
  async run(facts): Promise<Finding> {
    const { publicUrl, domain, hasOwnDomain } = facts.settings
    if (publicUrl === undefined || !isHttps(publicUrl)) return skipped('SANDYARD_API_URL is not set to an https URL')
    const { hostname, port } = new URL(publicUrl)
    const sandboxPort = /:(\d+)$/.exec(domain)?.[1] ?? (port === '' ? '443' : port)
    const findings = [await judge(facts, hostname, Number(port === '' ? 443 : port))]
    if (hasOwnDomain) findings.push(await judge(facts, `49983-i${randomId(19)}.${hostnameOf(domain)}`, Number(sandboxPort)))
    return worstOf(findings, findings.map(({ found }) => found).join(', '))
  },
}

async function judge(facts: Facts, name: string, port: number): Promise<Finding> {
  const shown = name.replace(/^49983-i[^.]*/, '*')
  const [address] = await facts.machine.lookUp(name)
  if (address === undefined) return fail(`${shown} has no address`)
  const peer = await readCertificate({ address, port, name, authorities: facts.authorities }).catch((err: Error) => err)
  if (peer instanceof Error) return fail(`${shown}:${port} does not speak TLS: ${peer.message}`)
  const wrongName = checkServerIdentity(name, peer.certificate)
  const days = Math.floor((Date.parse(peer.certificate.valid_to) - facts.machine.now()) / DAY_MS)
  if (days < 0) return fail(`the certificate of ${shown} ended on ${peer.certificate.valid_to}`)
  if (wrongName !== undefined) return fail(`the certificate of ${shown} is for other names: ${peer.certificate.subjectaltname ?? 'none'}`)
  if (peer.refusal !== undefined) return fail(`the certificate of ${shown} is not trusted: ${peer.refusal}`)
  const found = `${shown}: ${days} days left`
  if (days < FAIL_DAYS) return fail(found)
  return days < WARN_DAYS ? warn(found) : ok(found)
}

interface Peer {
  readonly certificate: PeerCertificate
  /** Why the chain is not valid. */
  readonly refusal: string | undefined
}

interface PeerOptions {
  readonly address: string
  readonly port: number
  readonly name: string
  readonly authorities: readonly string[]
}

function readCertificate({ address, port, name, authorities }: PeerOptions): Promise<Peer> {
  const { promise, resolve, reject } = Promise.withResolvers<Peer>()
  const socket = connect({
    host: address,
    port,
    servername: name,
    // The certificate itself is judged, also when it is not valid.
    rejectUnauthorized: false,
    checkServerIdentity: () => undefined,
    ca: [...authorities],
  })
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('no answer in time')))
  socket.once('error', reject)
  socket.once('secureConnect', () => {
    const certificate = socket.getPeerCertificate()
    const refusal = socket.authorized ? undefined : String(socket.authorizationError)
    socket.destroy()
    resolve({ certificate, refusal })
  })
  return promise
}
