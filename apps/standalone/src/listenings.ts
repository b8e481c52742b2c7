import { apiListening, metricsListening, type Listening } from '@sandyard/api/program/listening'
import type { StandaloneConfig } from './config.ts'

export function listenings(config: StandaloneConfig): Record<'api' | 'proxy' | 'metrics' | 'egress', Listening> {
  return {
    api: apiListening(config),
    metrics: metricsListening(config),
    proxy: { purpose: 'the sandbox proxy', host: config.bind, port: config.proxyPort, setting: 'SANDYARD_PROXY_PORT' },
    egress: {
      purpose: 'the health check of the egress gateway',
      host: '127.0.0.1',
      port: config.egressHealthPort,
      setting: 'SANDYARD_EGRESS_HEALTH_PORT',
    },
  }
}
