import { fileURLToPath } from 'node:url'
import type { Program } from './child-program.ts'

/** The data plane. */
export const PROXY: Program = {
  name: 'proxy',
  title: 'the proxy',
  main: fileURLToPath(import.meta.resolve('@sandyard/proxy/main')),
  portSetting: 'SANDYARD_PROXY_PORT',
}

/** Decides on the connections of sandboxes by name. The port that it reports is the one of its health check. */
export const EGRESS: Program = {
  name: 'egress',
  title: 'the egress gateway',
  main: fileURLToPath(import.meta.resolve('@sandyard/egress/main')),
  portSetting: 'SANDYARD_EGRESS_HEALTH_PORT',
}
