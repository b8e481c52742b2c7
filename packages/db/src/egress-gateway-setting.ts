/** The row of `server_setting` with the address to which connections for the egress gateway are redirected. Absent: there is no gateway. */
export const EGRESS_GATEWAY_SETTING = 'egress_gateway_host'
