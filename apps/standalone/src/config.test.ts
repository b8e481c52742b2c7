import { expect, it } from 'vitest'
import { readStandaloneConfig } from './config.ts'

it('defaults to the ports and the loopback address of the documentation', () => {
  const { bind, apiPort, metricsPort, proxyPort, dataDir, log } = readStandaloneConfig({})
  expect({ bind, apiPort, metricsPort, proxyPort, dataDir, log }).toEqual({
    bind: '127.0.0.1',
    apiPort: 3000,
    metricsPort: 3001,
    proxyPort: 3002,
    dataDir: './.sandyard',
    log: 'file',
  })
})

it('lists every invalid setting', () => {
  const attempt = () => readStandaloneConfig({ SANDYARD_LOG: 'paper', SANDYARD_ENGINE: 'steam', SANDYARD_BASE_MEMORY: '1MiB' })
  expect(attempt).toThrow(/SANDYARD_LOG is one of file, stdout[^]*SANDYARD_ENGINE is one of[^]*SANDYARD_BASE_MEMORY/)
})
