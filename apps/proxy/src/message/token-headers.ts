/** Opens the ports of users of a sandbox whose traffic is not public (control-plane.md 18.2). */
export const TRAFFIC_TOKEN = 'e2b-traffic-access-token'
/** Opens the port of the daemon of a secured sandbox (control-plane.md 18.1). */
export const ACCESS_TOKEN = 'x-access-token'
