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
}

const CHECKOUT_DIST = resolve(import.meta.dirname, '../../../dashboard/dist')

export function checkDashboardSettings(
  { dashboard, dashboardDist }: ConfigOf<typeof DASHBOARD_SETTINGS>,
  problems: string[],
): DashboardConfig {
  if (dashboard && dashboardDist !== undefined && !existsSync(join(dashboardDist, 'index.html'))) {
    problems.push(`SANDYARD_DASHBOARD_DIST must be a folder with an index.html: ${dashboardDist}`)
  }
  return { isOn: dashboard, dist: dashboardDist ?? CHECKOUT_DIST }
}
