import { parseEgressConfig } from '@sandyard/egress/config'
import { parseConfig, type Environment } from '@sandyard/kit/config/parse-config'
import { SEPARATE_SETTINGS } from './config.ts'

/** The ports of the egress gateway on the host of the engine. */
export interface EgressGatewayPorts {
  readonly tcpPort: number
  readonly dnsPort: number
}

/** Undefined when the settings say that no gateway runs. @throws ConfigError that lists every problem */
export function readEgressGateway(environment: Environment): EgressGatewayPorts | undefined {
  const { tcpPort, dnsPort } = parseEgressConfig(environment)
  const { hasGateway } = parseConfig({ hasGateway: SEPARATE_SETTINGS.hasGateway }, environment)
  return hasGateway ? { tcpPort, dnsPort } : undefined
}
