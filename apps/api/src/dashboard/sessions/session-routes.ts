import type { ApiRoute } from '../../http/api-instance.ts'
import { getMeRoute } from './routes/get-me.ts'
import { loginRoute } from './routes/login.ts'
import { logoutRoute } from './routes/logout.ts'
import { switchTeamRoute } from './routes/switch-team.ts'

export const sessionRoutes: readonly ApiRoute[] = [loginRoute, logoutRoute, getMeRoute, switchTeamRoute]
