import { expect, it } from 'vitest'
import { readEgressGateway } from './egress-gateway.ts'

it('returns the ports of the gateway, unless the settings say that there is none', () => {
  expect(readEgressGateway({})).toEqual({ tcpPort: 18_443, dnsPort: 18_053 })
  expect(readEgressGateway({ SANDYARD_EGRESS_TCP_PORT: '1', SANDYARD_EGRESS_DNS_PORT: '2' })).toEqual({ tcpPort: 1, dnsPort: 2 })
  expect(readEgressGateway({ SANDYARD_EGRESS_GATEWAY: 'false' })).toBeUndefined()
})
