import fp from 'fastify-plugin'
import { AppError } from '@sandyard/kit/errors/app-error'
import { shorten } from '../text/shorten.ts'
import { AllowedHosts, type AllowedHostsOptions } from './allowed-hosts.ts'

/** Load balancers use their own host names for these, and the answers contain no data of teams. */
const PROBES: ReadonlySet<string | undefined> = new Set(['/health', '/ready'])

/** Refuses requests that address this server by a name that is not its own. */
export const allowedHostsPlugin = fp<AllowedHostsOptions>(
  async (app, options) => {
    const hosts = new AllowedHosts(options)
    app.addHook('onRequest', async (request) => {
      if (PROBES.has(request.routeOptions.url) || hosts.has(request.hostname)) return
      throw new AppError(
        'permission_denied',
        `This server does not answer to the name '${shorten(request.hostname)}': the operator can add it to SANDYARD_ALLOWED_HOSTS`,
      )
    })
  },
  { name: 'allowed-hosts' },
)
