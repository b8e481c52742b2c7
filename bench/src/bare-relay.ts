/**
 * A process that copies bytes between each of its connections and a new one to an address, and does nothing else: what a proxy without HTTP,
 * checks and routes takes. It prints its port and ends with its parent.
 *
 * usage: bare-relay.ts <host> <port>
 */
import { connect, createServer, type AddressInfo } from 'node:net'

const [host = '', port = ''] = process.argv.slice(2)

const server = createServer({ noDelay: true }, (client) => {
  const daemon = connect({ host, port: Number(port), noDelay: true })
  client.pipe(daemon)
  daemon.pipe(client)
  for (const socket of [client, daemon]) {
    socket.on('error', () => undefined)
    socket.on('close', () => [client, daemon].forEach((end) => end.destroy()))
  }
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))

process.stdin.on('end', () => process.exit()).resume()
