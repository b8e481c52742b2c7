import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { env, type ConfigOf, type ConfigSchema } from '@sandyard/kit/config/parse-config'

export const DASHBOARD_SETTINGS = {
  dashboard: env.boolean('SANDYARD_DASHBOARD', {
    default: true,
    doc: 'Whether the control plane serves the dashboard under `/dashboard/`.',
  }),
  dashboardDist: env.text('SANDYARD_DASHBOARD_DIST', {
    default: undefined,
    doc: 'Folder with the built pages of the dashboard, as in our images; without it those of the checkout are served, which `npm start` builds.',
  }),
} satisfies ConfigSchema

export interface DashboardConfig {
  readonly isOn: boolean
  /** The folder of `index.html` and `assets/`. */
  readonly dist: string
  /** The folder of the app that `dist` is built from; undefined: `dist` is given, and is never built here. */
  readonly sources: string | undefined
}

const SOURCES = resolve(import.meta.dirname, '../../../dashboard')

export function checkDashboardSettings(
  { dashboard, dashboardDist }: ConfigOf<typeof DASHBOARD_SETTINGS>,
  problems: string[],
): DashboardConfig {
  if (dashboard && dashboardDist !== undefined && !existsSync(join(dashboardDist, 'index.html'))) {
    problems.push(`SANDYARD_DASHBOARD_DIST must be a folder with an index.html: ${dashboardDist}`)
  }
  if (dashboardDist !== undefined) return { isOn: dashboard, dist: resolve(dashboardDist), sources: undefined }
  return { isOn: dashboard, dist: join(SOURCES, 'dist'), sources: SOURCES }
}
