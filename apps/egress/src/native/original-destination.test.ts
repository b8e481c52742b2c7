import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { parseSocketAddress, readOriginalDestination } from './original-destination.ts'

it('reads the address of an IPv4 socket in the order of the network', () => {
  const family = Buffer.from(new Uint16Array([2]).buffer)
  expect(parseSocketAddress(Buffer.concat([family, Buffer.from([1, 187, 192, 0, 2, 7, 0, 0, 0, 0, 0, 0, 0, 0])]))).toEqual({
    address: '192.0.2.7',
    port: 443,
  })
  const ipv6 = Buffer.from(new Uint16Array([10]).buffer)
  expect(parseSocketAddress(Buffer.concat([ipv6, Buffer.alloc(14)]))).toBeUndefined()
})

it('finds no other destination for a connection that was not redirected', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = connect(port, '127.0.0.1')
  const [accepted] = (await once(server, 'connection')) as [Socket]
  // With connection tracking the kernel knows the destination, which is the socket's own address; without it there is none.
  expect([undefined, { address: '127.0.0.1', port }]).toContainEqual(readOriginalDestination(accepted))
  client.destroy()
  accepted.destroy()
  await once(accepted, 'close')
  expect(readOriginalDestination(accepted)).toBeUndefined()
  server.close()
})
