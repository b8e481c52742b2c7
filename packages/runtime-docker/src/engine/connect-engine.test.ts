import { expect, it } from 'vitest'
import { connectionOf } from './connect-engine.ts'

it.for<[string, object]>([
  ['unix:///var/run/docker.sock', { socketPath: '/var/run/docker.sock' }],
  ['tcp://10.0.0.1:2376', { protocol: 'http', host: '10.0.0.1', port: 2376 }],
  ['tcp://engine', { protocol: 'http', host: 'engine', port: 2375 }],
  ['http://localhost:1234', { protocol: 'http', host: 'localhost', port: 1234 }],
])('reads %s', ([address, connection]) => {
  expect(connectionOf(address)).toEqual(connection)
})

it.for(['', '/var/run/docker.sock', 'unix://relative', 'ssh://host', 'npipe:////./pipe/docker', 'https://host'])(
  'refuses "%s"',
  (address) => {
    expect(() => connectionOf(address)).toThrow('is not an address of a Docker engine')
  },
)
