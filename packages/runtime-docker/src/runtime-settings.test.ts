import { parseConfig } from '@sandyard/kit/config/parse-config'
import { expect, it } from 'vitest'
import { dockerRuntimeSettings, optionsOf } from './runtime-settings.ts'

it('takes 0 for no limit of what a sandbox may send', () => {
  const config = parseConfig(dockerRuntimeSettings, {
    SANDYARD_EGRESS_CONNECTIONS: '0',
    SANDYARD_EGRESS_NEW_CONNECTIONS: '0',
    SANDYARD_EGRESS_PACKETS: '0',
    SANDYARD_EGRESS_BANDWIDTH: '0MiB',
  })
  expect(optionsOf(config).egressLimits).toEqual({ connections: 0, newConnectionsPerSecond: 0, packetsPerSecond: 0, bytesPerSecond: 0 })
})

it.each(['SANDYARD_EGRESS_CONNECTIONS', 'SANDYARD_EGRESS_NEW_CONNECTIONS', 'SANDYARD_EGRESS_PACKETS'])('refuses -1 for %s', (name) => {
  expect(() => parseConfig(dockerRuntimeSettings, { [name]: '-1' })).toThrow(name)
})
