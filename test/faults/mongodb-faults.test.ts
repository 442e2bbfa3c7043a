import { describeServerFaults } from './server-faults.ts';

describeServerFaults('mongodb');
