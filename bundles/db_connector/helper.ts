/**
 * Stands for `helper.js` of the connector's folder, which lies beside the other bundles of a server. So bundles import
 * '../db_connector/helper.js' here and there. Not shipped: the build puts the connector itself into this place.
 */
export * from '../../db_connector/helper/helper.ts';
