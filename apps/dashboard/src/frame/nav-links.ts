import type { Me } from '@sandyard/dashboard-contract/session'
import type { IconName } from '../parts/icon.tsx'
import type { frameTexts } from '../texts/frame-texts.ts'
import { paths } from './paths.ts'

export interface NavLink {
  readonly icon: IconName & keyof typeof frameTexts.screens
  readonly path: string
}

/** By group, in the order of the navigation. */
export function navLinks({ role, server }: Me): readonly (readonly NavLink[])[] {
  return [
    [
      { icon: 'overview', path: paths.overview },
      { icon: 'sandboxes', path: paths.sandboxes },
      { icon: 'templates', path: paths.templates },
      { icon: 'builds', path: paths.builds },
    ],
    [
      ...(server.hasVolumes ? [{ icon: 'volumes', path: paths.volumes } as const] : []),
      ...(server.hasSecrets ? [{ icon: 'secrets', path: paths.secrets } as const] : []),
      { icon: 'keys', path: paths.keys },
      { icon: 'webhooks', path: paths.webhooks },
    ],
    [
      { icon: 'usage', path: paths.usage },
      { icon: 'audit', path: paths.audit },
      { icon: 'teams', path: paths.teams },
      ...(role === 'operator' ? [{ icon: 'host', path: paths.host } as const] : []),
    ],
  ]
}

/** Whether the screen at `path` is the link's, or below it. */
export function isCurrent(link: string, path: string): boolean {
  const at = path.endsWith('/') ? path : `${path}/`
  return link === paths.overview ? at === paths.overview : at.startsWith(`${link}/`)
}
