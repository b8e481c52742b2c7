/** In an answer that removes cookies which another page of the site has set: a request that was answered with 401 works when it is sent again. */
export const COOKIES_CLEANED_HEADER = 'sandyard-cookies-cleaned'
