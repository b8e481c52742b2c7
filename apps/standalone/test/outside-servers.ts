import { Secret } from '@sandyard/kit/config/secret'
import { leafFor } from '@sandyard/egress-ca/leaf-for'
import { sandboxAuthority } from '@sandyard/egress-ca/sandbox-authority'
import { Inside } from '../../../packages/runtime-docker/test/support/inside.ts'
import { OUTSIDE } from '../../../packages/runtime-docker/test/support/outside-world.ts'
import { DAEMON_PORT, STAND_IN_COMMAND } from '../../../packages/runtime-docker/test/support/stand-in-dist.ts'

/** Where the SOCKS5 server of the outside machine listens. */
export const SOCKS_PORT = 1080
/** A port of a server that speaks no HTTP. */
export const PLAIN_PORT = 8443

/** The program of the outside machine: an HTTPS server for some names and an HTTP server, which tell the request; a plain one; SOCKS5. */
const PROGRAM = String.raw`
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer as createHttp } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { createServer } from 'node:net'
import { createSecureContext } from 'node:tls'

const leaves = JSON.parse(readFileSync('/leaves.json', 'utf8'))
const tell = ({ method, url, headers }, res) => res.end(JSON.stringify({ method, url, host: headers.host, key: headers['x-key'] ?? null }))
const SNICallback = (name, callback) => callback(null, createSecureContext(leaves[name] ?? Object.values(leaves)[0]))
createHttps({ ...Object.values(leaves)[0], SNICallback }, tell).listen(443)
createHttp(tell).listen(80)
createServer((socket) => socket.on('error', () => undefined).end('plain\n')).listen(${PLAIN_PORT})

/** SOCKS5 without a login. It answers for every server itself, and says which one was asked for. */
createServer((socket) => {
  socket.on('error', () => undefined)
  socket.once('data', () => {
    socket.write(Buffer.from([5, 0]))
    socket.once('data', (request) => {
      const isName = request[3] === 3
      const host = isName ? request.toString('latin1', 5, 5 + request[4]) : [...request.subarray(4, 8)].join('.')
      const port = request.readUInt16BE(request.length - 2)
      socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
      socket.once('data', () => {
        const text = 'proxied ' + host + ':' + port + '\n'
        socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ' + text.length + '\r\n\r\n' + text)
      })
    })
  })
}).listen(${SOCKS_PORT})
writeFileSync('/serving', '')
`

/** Starts the servers on the outside machine. @returns the certificate in PEM that vouches for the names */
export async function startOutsideServers(names: readonly string[]): Promise<string> {
  const authority = sandboxAuthority(new Secret('outside'), 'outside')
  const leaves = names.map((name) => {
    const { certificatePem, privateKeyPem } = leafFor(authority, name)
    return [name, { cert: certificatePem, key: privateKeyPem.reveal() }] as const
  })
  const machine = new Inside({ host: OUTSIDE.public, daemonPort: DAEMON_PORT })
  await machine.writeFile('/leaves.json', JSON.stringify(Object.fromEntries(leaves)))
  await machine.writeFile('/servers.mjs', PROGRAM)
  const node = STAND_IN_COMMAND.slice(0, -1).join(' ')
  await machine.sh(
    `(${node} /servers.mjs > /servers.log 2>&1 &); for i in $(seq 200); do [ -e /serving ] && exit; sleep 0.1; done; cat /servers.log; exit 1`,
  )
  return authority.certificatePem
}
