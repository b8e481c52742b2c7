import { type ConfigOf, env, type Environment, parseConfig } from '@sandyard/kit/config/parse-config'

const schema = {
  port: env.port('MCP_GATEWAY_PORT', { default: 50_005, doc: 'port of the gateway; clients expect 50005' }),
  directory: env.text('MCP_GATEWAY_DIRECTORY', {
    default: '/etc/mcp-gateway',
    doc: 'token, configuration and log; clients read `.token` in it',
  }),
  serversDirectory: env.text('MCP_GATEWAY_SERVERS', { default: '/opt/mcp-gateway/servers', doc: 'where servers are installed' }),
  user: env.text('MCP_GATEWAY_USER', { default: 'user', doc: 'whom servers run as, when the gateway runs as root' }),
  logLevel: env.text('MCP_GATEWAY_LOG_LEVEL', { default: 'info', doc: 'least level that is logged' }),
}

export type GatewayConfig = ConfigOf<typeof schema>

/** @throws ConfigError that lists every problem */
export function readConfig(environment: Environment): GatewayConfig {
  return parseConfig(schema, environment)
}
